package sdk

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Records fetches pages while the loop goes on; a record that fits no message is
// read in parts, which takes session.read.
func (a *remoteAccess) Records(ctx context.Context, kind string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for after := int64(0); ; {
			page, err := a.h.records.ListRecords(ctx, &pluginv1.ListRecordsRequest{Session: a.id, Kind: kind, AfterSeq: after})
			if err != nil {
				yield(session.Event{}, hostError("ListRecords", err))
				return
			}
			for _, wire := range page.GetRecords() {
				e, err := eventFrom(wire)
				if err == nil && len(e.Data) == 0 {
					e.Data, err = a.payload(ctx, e.Seq)
				}
				if !yield(e, err) || err != nil {
					return
				}
				after = e.Seq
			}
			if !page.GetMore() || len(page.GetRecords()) == 0 {
				return
			}
		}
	}
}

func (a *remoteAccess) PutRecord(ctx context.Context, kind, key string, data json.RawMessage) error {
	_, err := a.h.records.PutRecord(ctx, &pluginv1.PutRecordRequest{
		Session: a.id, Record: &pluginv1.Record{Kind: kind, Key: key, Json: data},
	})
	return hostError("PutRecord", err)
}
