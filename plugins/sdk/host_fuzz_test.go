package sdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// lendable is every capability, and what it opens as the wire contract has it.
var lendable = []struct {
	capability sdk.Capability
	methods    []string
}{
	{"", []string{pluginv1.Control_Attach_FullMethodName, pluginv1.Diagnostics_Log_FullMethodName}},
	{sdk.CapSessionRead, []string{pluginv1.Session_ReadEvents_FullMethodName, pluginv1.Session_ReadPart_FullMethodName,
		pluginv1.Session_ReadOutline_FullMethodName, pluginv1.Session_GetMeter_FullMethodName}},
	{sdk.CapSessionSteer, []string{pluginv1.Session_Steer_FullMethodName}},
	{sdk.CapUserAsk, []string{pluginv1.User_Ask_FullMethodName}},
	{sdk.CapSessionSpawn, []string{pluginv1.Children_Spawn_FullMethodName, pluginv1.Children_ListChildren_FullMethodName,
		pluginv1.Children_Tell_FullMethodName, pluginv1.Children_Interrupt_FullMethodName}},
	{sdk.CapModelGenerate, []string{pluginv1.Model_Generate_FullMethodName}},
	{sdk.CapRecordsWrite, []string{pluginv1.Records_PutRecord_FullMethodName, pluginv1.Records_ListRecords_FullMethodName}},
}

// lending is all that a host serves, from the generated code.
var lending = []grpc.ServiceDesc{pluginv1.Control_ServiceDesc, pluginv1.Session_ServiceDesc, pluginv1.User_ServiceDesc, pluginv1.Children_ServiceDesc,
	pluginv1.Model_ServiceDesc, pluginv1.Records_ServiceDesc, pluginv1.Diagnostics_ServiceDesc}

// answers are the statuses that a plugin has to reckon with.
var answers = []codes.Code{codes.OK, codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated,
	codes.Canceled, codes.Internal}

// raw sends bytes as they are.
type raw struct{}

func (raw) Name() string                       { return "proto" }
func (raw) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error { *v.(*[]byte) = slices.Clone(data); return nil }

// watched lends a session and notes what should not have been reached.
type watched struct {
	lentSession
	granted []sdk.Capability

	mu    sync.Mutex
	wrong []string
}

func (w *watched) saw(c sdk.Capability, so bool, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.granted, c) {
		w.wrong = append(w.wrong, fmt.Sprintf("%q was not granted", c))
	}
	if !so {
		w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	}
}

func text(s string) bool { return utf8.ValidString(s) }

func (w *watched) Events(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	w.saw(sdk.CapSessionRead, q.Limit >= 0, "events: %+v", q)
	return w.lentSession.Events(ctx, q)
}
func (w *watched) Outline(ctx context.Context) (session.Outline, error) {
	w.saw(sdk.CapSessionRead, true, "")
	return w.lentSession.Outline(ctx)
}
func (w *watched) Meter(ctx context.Context) (session.Meter, error) {
	w.saw(sdk.CapSessionRead, true, "")
	return w.lentSession.Meter(ctx)
}
func (w *watched) Generate(_ context.Context, g session.Generate) (session.Generated, error) {
	w.saw(sdk.CapModelGenerate, !slices.Contains(g.Append, nil), "generate: %+v", g)
	return session.Generated{Message: llm.Text(llm.RoleAssistant, "said")}, nil
}
func (w *watched) Steer(_ context.Context, s, key string, _ bool) error {
	w.saw(sdk.CapSessionSteer, text(s) && text(key), "steer: %q %q", s, key)
	return nil
}
func (w *watched) FollowUp(_ context.Context, s, key string) error {
	w.saw(sdk.CapSessionSteer, text(s) && text(key), "follow up: %q %q", s, key)
	return nil
}
func (w *watched) Ask(_ context.Context, q session.Question, timeout time.Duration) (session.Answer, error) {
	w.saw(sdk.CapUserAsk, text(q.Text) && q.Text != "" && timeout >= 0, "ask: %+v for %d", q, timeout)
	return session.Answer{Outcome: session.OutcomeUnavailable}, nil
}
func (w *watched) Spawn(_ context.Context, s session.Spawn) (session.Child, error) {
	w.saw(sdk.CapSessionSpawn, s.Task != "" && (s.Data == nil || json.Valid(s.Data)), "spawn: %+v", s)
	return session.Child{ID: "c"}, nil
}
func (w *watched) Children(context.Context) ([]session.Child, error) {
	w.saw(sdk.CapSessionSpawn, true, "")
	return []session.Child{{ID: "c"}}, nil
}
func (w *watched) Tell(_ context.Context, to, s string) error {
	w.saw(sdk.CapSessionSpawn, text(to) && text(s), "tell: %q %q", to, s)
	return nil
}
func (w *watched) Interrupt(_ context.Context, child string) error {
	w.saw(sdk.CapSessionSpawn, text(child), "interrupt %q", child)
	return nil
}
func (w *watched) PutRecord(_ context.Context, kind, key string, data json.RawMessage) error {
	w.saw(sdk.CapRecordsWrite, kind != "" && json.Valid(data), "record: %q %q %q", kind, key, data)
	return nil
}

func (w *watched) Records(ctx context.Context, kind string) iter.Seq2[session.Event, error] {
	w.saw(sdk.CapRecordsWrite, text(kind), "records of %q", kind)
	return w.lentSession.Records(ctx, kind)
}

// counter is a host's side of the fuzz with one set of grants.
type counter struct {
	*watched
	conn *grpc.ClientConn
}

// lends serves with no grant, with all of them and with each alone.
func lends(f *testing.F) (all []counter) {
	dir, err := os.MkdirTemp("", "sdk")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	everything := []sdk.Capability{}
	grants := [][]sdk.Capability{nil}
	for _, l := range lendable[1:] {
		everything = append(everything, l.capability)
		grants = append(grants, []sdk.Capability{l.capability})
	}
	for i, granted := range append(grants, everything) {
		w := &watched{granted: granted}
		for seq := int64(1); seq <= 5; seq++ {
			e := session.New(session.KindWarning, session.Warning{Code: "C", Message: "m"})
			e.Seq = seq
			w.events = append(w.events, e)
		}
		w.outline = session.Outline{Revision: 5, Nodes: []session.Node{{Seq: 1}, {Seq: 2}}}
		h := sdk.NewHostServer(sdk.HostConfig{Token: "right", Granted: w.granted, Access: func(id string) (session.Access, error) {
			if id != "s" {
				return nil, session.ErrNotFound
			}
			return w, nil
		}})
		end, _ := h.Begin("now")
		f.Cleanup(end)
		l, err := net.Listen("unix", filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			f.Fatal(err)
		}
		go h.Serve(l)
		f.Cleanup(h.Stop)
		conn, err := grpc.NewClient("unix:"+l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { conn.Close() })
		all = append(all, counter{w, conn})
	}
	return all
}

// FuzzHostAPI: whatever bytes a plugin sends, with whatever token and grants, nothing
// panics, nothing that was not granted is reached, what is reached is fit for it, and
// the answer is one of those that there are.
func FuzzHostAPI(f *testing.F) {
	var methods []string
	needs := map[string]sdk.Capability{}
	for _, l := range lendable {
		for _, m := range l.methods {
			needs[m] = l.capability
		}
	}
	for _, s := range lending {
		for _, m := range s.Methods {
			methods = append(methods, "/"+s.ServiceName+"/"+m.MethodName)
		}
		for _, m := range s.Streams {
			methods = append(methods, "/"+s.ServiceName+"/"+m.StreamName)
		}
	}
	if len(methods) != len(needs) {
		f.Fatalf("%d methods are served, the capabilities open %d", len(methods), len(needs))
	}
	seedHostAPI(f, methods)
	open := lends(f)
	f.Fuzz(func(t *testing.T, method, grants byte, token, invocation string, payload []byte) {
		if strings.ContainsFunc(token+invocation, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Skip("not even our own gRPC would send it")
		}
		name := methods[int(method)%len(methods)]
		c := open[int(grants)%len(open)]
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		pairs := []string{"authorization", "Bearer " + token}
		if invocation != "" {
			pairs = append(pairs, "tureen-invocation", invocation)
		}
		code := first(metadata.AppendToOutgoingContext(ctx, pairs...), c.conn, name, payload)
		if code == codes.Internal && readable(name, payload) {
			t.Errorf("%s: internal error on a message that reads", name)
		}
		if !slices.Contains(answers, code) {
			t.Errorf("%s: %s", name, code)
		}
		granted := needs[name] == "" || slices.Contains(c.granted, needs[name])
		if code == codes.OK && (token != "right" || !granted || invocation != "" && invocation != "now") {
			t.Errorf("%s was served: token %q, granted %v, invocation %q", name, token, granted, invocation)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, w := range c.wrong {
			t.Errorf("%s: %s", name, w)
		}
		c.wrong = nil
	})
}

// first calls a method and returns how it, or the first message of its stream, went.
func first(ctx context.Context, conn *grpc.ClientConn, method string, payload []byte) codes.Code {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, grpc.ForceCodec(raw{}))
	if err != nil {
		return status.Code(err)
	}
	if err := stream.SendMsg(&payload); err == nil {
		_ = stream.CloseSend()
	}
	var answer []byte
	return status.Code(stream.RecvMsg(&answer))
}

// readable tells whether the payload is the message of a method.
func readable(method string, payload []byte) bool {
	m, ok := requests[method]
	return ok && proto.Unmarshal(payload, m.ProtoReflect().New().Interface()) == nil
}

// requests is a whole message of each method.
var requests = map[string]proto.Message{
	pluginv1.Control_Attach_FullMethodName:        &pluginv1.AttachRequest{},
	pluginv1.Diagnostics_Log_FullMethodName:       &pluginv1.LogRequest{Lines: []*pluginv1.LogLine{{Level: "warn", Message: "m", Fields: map[string]string{"k": "v"}}}},
	pluginv1.Session_ReadEvents_FullMethodName:    &pluginv1.ReadEventsRequest{Session: "s", AfterSeq: 1, BeforeSeq: 9, Limit: math.MaxInt32, MaxBytes: 10, Reverse: true, Kinds: []string{"warning"}},
	pluginv1.Session_ReadPart_FullMethodName:      &pluginv1.ReadPartRequest{Session: "s", Seq: 2, Offset: 3, MaxBytes: 4},
	pluginv1.Session_ReadOutline_FullMethodName:   &pluginv1.ReadOutlineRequest{Session: "s", Revision: 5, Page: "1"},
	pluginv1.Session_GetMeter_FullMethodName:      &pluginv1.GetMeterRequest{Session: "s"},
	pluginv1.Session_Steer_FullMethodName:         &pluginv1.SteerRequest{Session: "s", Text: "t", Key: "k", NextTurn: true},
	pluginv1.User_Ask_FullMethodName:              &pluginv1.AskRequest{Session: "s", Question: &pluginv1.Question{Text: "?"}, TimeoutMs: math.MaxInt64},
	pluginv1.Children_Spawn_FullMethodName:        &pluginv1.SpawnRequest{Session: "s", Task: "t", DataJson: []byte("{}"), Fork: true},
	pluginv1.Children_ListChildren_FullMethodName: &pluginv1.ListChildrenRequest{Session: "s"},
	pluginv1.Children_Tell_FullMethodName:         &pluginv1.TellRequest{Session: "s", To: "c", Text: "t"},
	pluginv1.Children_Interrupt_FullMethodName:    &pluginv1.InterruptRequest{Session: "s", Child: "c"},
	pluginv1.Model_Generate_FullMethodName:        &pluginv1.GenerateRequest{Session: "s", SurfaceUntil: -1, Append: []*pluginv1.Message{{Role: "user", Text: "t"}}, MaxOutputTokens: -1},
	pluginv1.Records_ListRecords_FullMethodName:   &pluginv1.ListRecordsRequest{Session: "s", Kind: "k", AfterSeq: math.MinInt64},
	pluginv1.Records_PutRecord_FullMethodName:     &pluginv1.PutRecordRequest{Session: "s", Record: &pluginv1.Record{Kind: "k", Json: []byte("{}")}},
}

func seedHostAPI(f *testing.F, methods []string) {
	for i, name := range methods {
		m, ok := requests[name]
		if !ok {
			f.Fatalf("there is no request of %s", name)
		}
		payload, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), byte(7), "right", "", payload)
		f.Add(byte(i), byte(7), "right", "now", payload[:len(payload)/2])
		f.Add(byte(i), byte(7), "right", "gone", payload)
		f.Add(byte(i), byte(0), "right", "now", payload)
		f.Add(byte(i), byte(7), "wrong", "", payload)
		f.Add(byte(i), byte(7), "", "", []byte(nil))
		f.Add(byte(i), byte(7), "right", "", []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	}
	for _, timeout := range []int64{-1, math.MinInt64, math.MaxInt64 / 1_000_000, math.MaxInt64/1_000_000 + 1} {
		payload, err := proto.Marshal(&pluginv1.AskRequest{Session: "s", Question: &pluginv1.Question{Text: "?"}, TimeoutMs: timeout})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(slices.Index(methods, pluginv1.User_Ask_FullMethodName)), byte(7), "right", "", payload)
	}
	for _, seq := range []int64{-1, 0, math.MinInt64, math.MaxInt64} {
		payload, err := proto.Marshal(&pluginv1.ReadPartRequest{Session: "s", Seq: seq, Offset: seq, MaxBytes: math.MinInt32})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(slices.Index(methods, pluginv1.Session_ReadPart_FullMethodName)), byte(7), "right", "", payload)
	}
}
