package sdk

import (
	"context"
	"encoding/json"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// pageSlack is what a page may hold besides its one record.
const pageSlack = 1 << 10

type recordsServer struct {
	pluginv1.UnimplementedRecordsServer
	h *HostServer
}

func (r *recordsServer) PutRecord(ctx context.Context, req *pluginv1.PutRecordRequest) (*pluginv1.PutRecordResponse, error) {
	access, err := r.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	record := req.GetRecord()
	if kind := record.GetKind(); kind == "" || strings.Contains(kind, "/") || !json.Valid(record.GetJson()) {
		return nil, status.Error(codes.InvalidArgument, "a record needs a kind without a slash, and JSON")
	}
	if err := access.PutRecord(ctx, record.GetKind(), record.GetKey(), record.GetJson()); err != nil {
		return nil, accessStatus(err)
	}
	return &pluginv1.PutRecordResponse{}, nil
}

// ListRecords answers a page with at least one record, where one is left. A record
// that fits no message comes without its payload.
func (r *recordsServer) ListRecords(ctx context.Context, req *pluginv1.ListRecordsRequest) (*pluginv1.ListRecordsResponse, error) {
	access, err := r.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	page := &pluginv1.ListRecordsResponse{}
	used := 0
	for e, err := range access.Records(ctx, req.GetKind()) {
		if err != nil {
			return nil, accessStatus(err)
		}
		if e.Seq <= req.GetAfterSeq() {
			continue
		}
		wire := eventTo(e)
		if proto.Size(wire) > SendLimit-pageSlack {
			wire.Json = nil
		}
		if used += proto.Size(wire); used > pageBytes && len(page.Records) > 0 {
			page.More = true
			break
		}
		page.Records = append(page.Records, wire)
	}
	return page, nil
}
