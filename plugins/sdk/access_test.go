package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// lentSession is a session.Access over values that a test sets up.
type lentSession struct {
	session.Refusing
	events   []session.Event
	outline  session.Outline
	meter    session.Meter
	generate func(context.Context, session.Generate) (session.Generated, error)
	moved    int // how many outlines say that the log has moved on
	steered  []string
	records  []compaction.Record
	held     []session.Event // what Records yields
	asked    session.Query   // the newest
}

func (a *lentSession) Records(_ context.Context, kind string) iter.Seq2[session.Event, error] {
	return compactiontest.Records(a.held, "borrower", kind)
}

func (a *lentSession) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		a.asked = q
		sent := 0
		for i := range a.events {
			e := a.events[i]
			if q.Reverse {
				e = a.events[len(a.events)-1-i]
			}
			if e.Seq <= q.After || (q.Before > 0 && e.Seq >= q.Before) {
				continue
			}
			if q.Limit > 0 && sent == q.Limit {
				return
			}
			sent++
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (a *lentSession) Outline(context.Context) (session.Outline, error) {
	if a.moved > 0 {
		a.moved--
		a.outline.Revision++
	}
	return a.outline, nil
}

func (a *lentSession) Meter(context.Context) (session.Meter, error) { return a.meter, nil }

func (a *lentSession) Generate(ctx context.Context, g session.Generate) (session.Generated, error) {
	return a.generate(ctx, g)
}

func (a *lentSession) Steer(_ context.Context, text, key string, wake bool) error {
	a.steered = append(a.steered, fmt.Sprintf("%s/%s/%v", text, key, wake))
	return nil
}

func (a *lentSession) PutRecord(_ context.Context, kind, key string, data json.RawMessage) error {
	a.records = append(a.records, compaction.Record{Kind: kind, Key: key, Data: data})
	return nil
}

// borrower is a plugin whose one tool hands its access to the test.
func borrower(use func(context.Context, session.Access) error) sdk.Plugin {
	p := sdk.Plugin{
		Name: "borrower", Version: "1", Roles: []sdk.Role{sdk.RoleTools},
		Capabilities: []sdk.Capability{sdk.CapSessionRead, sdk.CapSessionSteer, sdk.CapSessionSpawn, sdk.CapUserAsk, sdk.CapModelGenerate, sdk.CapRecordsWrite},
	}
	p.Start = func(_ context.Context, init sdk.Init) (sdk.Services, error) {
		return sdk.Services{Tools: toolFunc(func(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
			return tool.Result{Text: "done"}, use(ctx, init.Host.Session(call.Session))
		})}, nil
	}
	return p
}

type toolFunc func(context.Context, tool.Call, func(string)) (tool.Result, error)

func (toolFunc) Name() string { return "borrower" }
func (toolFunc) Tools(context.Context, string) ([]tool.Spec, error) {
	return []tool.Spec{{Name: "use", Schema: json.RawMessage(`{"type":"object"}`)}}, nil
}
func (f toolFunc) Call(ctx context.Context, c tool.Call, progress func(string)) (tool.Result, error) {
	return f(ctx, c, progress)
}

// borrow runs use inside the plugin, with the access that came over the wire.
func borrow(t *testing.T, lent session.Access, use func(context.Context, session.Access) error, deny ...sdk.Capability) error {
	t.Helper()
	p := plugintest.Run(t, borrower(use), plugintest.Host{Deny: deny, Sessions: []compaction.Session{{ID: "s", Access: lent}}})
	_, err := p.Tools().Call(t.Context(), tool.Call{Session: "s", ID: "c", Name: "use"}, nil)
	return err
}

func TestEventsArePagedWithoutLossAndOversizeOnesAreWhole(t *testing.T) {
	t.Parallel()
	lent := &lentSession{}
	for i := range 2000 {
		e := session.New("kind.of.tomorrow", map[string]string{"text": fmt.Sprintf("%d %s", i, bytes.Repeat([]byte("x"), 1000))})
		e.Seq, e.Time = int64(i+1), time.Unix(int64(i), 5).UTC()
		lent.events = append(lent.events, e.At(3, 4).On(session.Op{Kind: session.OpDrop, From: 1, To: 2}))
	}
	big, _ := json.Marshal(string(bytes.Repeat([]byte("é"), 4<<20)))
	lent.events[777].Data = big

	for _, q := range []session.Query{{}, {Reverse: true}, {After: 700, Before: 900}, {Limit: 1300}, {Limit: 1300, Reverse: true}} {
		var want, got []session.Event
		for e := range lent.Events(t.Context(), q) {
			want = append(want, e)
		}
		err := borrow(t, lent, func(ctx context.Context, a session.Access) error {
			for e, err := range a.Events(ctx, q) {
				if err != nil {
					return err
				}
				got = append(got, e)
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if !bytes.Equal(a, b) {
			t.Errorf("%+v: %d events of %d arrived, or not as they were", q, len(got), len(want))
		}
	}
}

// A store that keeps an index has to be told what is looked for.
func TestN9_TheTextOfAQueryReachesTheLog(t *testing.T) {
	t.Parallel()
	lent := &lentSession{}
	q := session.Query{After: 1, Kinds: []session.Kind{session.KindMessageUser}, Reverse: true, Text: "Nädel \"17\""}
	err := borrow(t, lent, func(ctx context.Context, a session.Access) error {
		for _, err := range a.Events(ctx, q) {
			return err
		}
		return nil
	})
	if err != nil || lent.asked.Text != q.Text {
		t.Errorf("the log is asked for %q, %v", lent.asked.Text, err)
	}
}

func TestOutlineIsPagedAndBeginsAgainWhereTheLogMoves(t *testing.T) {
	t.Parallel()
	lent := &lentSession{outline: session.Outline{Revision: 7}, moved: 2}
	for i := range 20000 {
		lent.outline.Nodes = append(lent.outline.Nodes, session.Node{Seq: int64(i), Kind: session.KindToolResult, Role: llm.RoleTool,
			Source: session.SourceHost, Tokens: 5, CallIDs: []string{"call_aaaaaaaaaaaaaaaaaaaaaaaa", "b"}, CallID: "call_cccccccccccccc", Chars: 9})
	}
	var got session.Outline
	err := borrow(t, lent, func(ctx context.Context, a session.Access) (err error) { got, err = a.Outline(ctx); return err })
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(lent.outline)
	b, _ := json.Marshal(got)
	if !bytes.Equal(a, b) {
		t.Errorf("%d nodes at %d arrived, sent were %d at %d", len(got.Nodes), got.Revision, len(lent.outline.Nodes), lent.outline.Revision)
	}
}

func TestModelErrorsKeepTheirTypeAcrossTheWire(t *testing.T) {
	t.Parallel()
	lent := &lentSession{generate: func(_ context.Context, g session.Generate) (session.Generated, error) {
		if g.Purpose == llm.PurposeNotes {
			return session.Generated{}, &llm.Error{Code: llm.CodeOverflow, Message: "too long"}
		}
		return session.Generated{Message: llm.Text(llm.RoleAssistant, "answer to "+g.Append[0].Text()), Stop: llm.StopEnd, Usage: llm.Usage{Input: 3, Output: 4, Reasoning: 1}}, nil
	}}
	err := borrow(t, lent, func(ctx context.Context, a session.Access) error {
		got, err := a.Generate(ctx, session.Generate{Append: []*llm.Message{llm.Text(llm.RoleUser, "q")}, Purpose: llm.PurposeCompaction})
		if err != nil || got.Message.Text() != "answer to q" || got.Usage.Output != 4 || got.Stop != llm.StopEnd {
			return fmt.Errorf("answer %+v, error %v", got, err)
		}
		_, err = a.Generate(ctx, session.Generate{Purpose: llm.PurposeNotes})
		if llm.CodeOf(err) != llm.CodeOverflow {
			return fmt.Errorf("overflow arrived as %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSteerRecordAndMeterReachTheSession(t *testing.T) {
	t.Parallel()
	lent := &lentSession{meter: session.Meter{Window: 9, Measured: 8, Source: "usage", ResetAt: 7, Reserve: 6, Fixed: 5, Ordinal: 4}}
	err := borrow(t, lent, func(ctx context.Context, a session.Access) error {
		m, err := a.Meter(ctx)
		if m != lent.meter {
			err = errors.Join(err, fmt.Errorf("meter %+v", m))
		}
		return errors.Join(err, a.Steer(ctx, "go", "k", true), a.PutRecord(ctx, "goal", "1", json.RawMessage(`{"a":1}`)))
	})
	if err != nil || len(lent.steered) != 1 || lent.steered[0] != "go/k/true" || len(lent.records) != 1 || string(lent.records[0].Data) != `{"a":1}` {
		t.Errorf("error %v, steered %v, records %v", err, lent.steered, lent.records)
	}
}

func TestDeniedCapabilityIsRefusedByName(t *testing.T) {
	t.Parallel()
	err := borrow(t, &lentSession{}, func(ctx context.Context, a session.Access) error {
		if _, err := a.Meter(ctx); err != nil {
			return fmt.Errorf("a granted call: %w", err)
		}
		err := a.Steer(ctx, "go", "", false)
		if !errors.Is(err, sdk.ErrDenied) {
			return fmt.Errorf("not ErrDenied: %w", err)
		}
		return nil
	}, sdk.CapSessionSteer)
	if err != nil {
		t.Error(err)
	}
}

func TestHostCallsEndWithTheirRequest(t *testing.T) {
	t.Parallel()
	inside, ended := make(chan struct{}), make(chan error, 1)
	lent := &lentSession{generate: func(ctx context.Context, _ session.Generate) (session.Generated, error) {
		close(inside)
		<-ctx.Done()
		ended <- ctx.Err()
		return session.Generated{}, ctx.Err()
	}}
	p := plugintest.Run(t, borrower(func(ctx context.Context, a session.Access) error {
		// like a runtime that does not pass the cancel on
		_, err := a.Generate(context.WithoutCancel(ctx), session.Generate{})
		return err
	}), plugintest.Host{Sessions: []compaction.Session{{ID: "s", Access: lent}}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-inside; cancel() }()
	if _, err := p.Tools().Call(ctx, tool.Call{Session: "s", Name: "use"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the call: %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the host call: %v", err)
	}
}

func TestUnknownSessionIsNotFound(t *testing.T) {
	t.Parallel()
	p := plugintest.Run(t, borrower(func(ctx context.Context, a session.Access) error {
		if _, err := a.Meter(ctx); !errors.Is(err, session.ErrNotFound) {
			return fmt.Errorf("not ErrNotFound: %w", err)
		}
		return nil
	}), plugintest.Host{})
	if _, err := p.Tools().Call(t.Context(), tool.Call{Session: "other", Name: "use"}, nil); err != nil {
		t.Error(err)
	}
}
