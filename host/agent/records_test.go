package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

// reckoned counts the events that are read of a log.
type reckoned struct {
	session.Log
	read int
}

func (r *reckoned) Read(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range r.Log.Read(ctx, q) {
			if r.read++; !yield(e, err) {
				return
			}
		}
	}
}

// holds reads a plugin's records as "kind/key=data".
func (s *setup) holds(plugin, kind string) string {
	s.t.Helper()
	var list []string
	for e, err := range s.agent.Access(plugin).Records(s.t.Context(), kind) {
		r, derr := session.Decode[session.Record](e)
		if err != nil || derr != nil || e.Kind != session.KindRecord || r.Plugin != plugin {
			s.t.Fatalf("%+v %v %v", e, err, derr)
		}
		list = append(list, fmt.Sprintf("%s/%s=%s", r.Kind, r.Key, r.Data))
	}
	return fmt.Sprint(list)
}

// TestC108_RecordsCostWhatHolds: the newest of each kind and key, oldest first, of this
// plugin alone, and as few events are read in a long log as in a short one; the same
// after a restart.
func TestC108_RecordsCostWhatHolds(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	log := &reckoned{Log: s.log}
	s.options.Log = log
	s.open()
	put := func(plugin, kind, key, data string) {
		t.Helper()
		if err := s.agent.Access(plugin).PutRecord(t.Context(), kind, key, json.RawMessage(data)); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.holds("p", ""); got != "[]" || log.read > 0 {
		t.Errorf("of nothing: %s, %d events read", got, log.read)
	}
	put("p", "a", "1", "1")
	put("p", "a", "2", "1")
	put("p", "ab", "1", "1")
	for i := range 700 { // far from each other
		put("pq", "a", "1", fmt.Sprint(i))
		if i == 350 {
			put("p", "b", "x/y", "1")
		}
	}
	put("p", "a", "1", "2")
	put("p", "a", "2", "null")
	log.read = 0
	check := func() {
		t.Helper()
		for kind, want := range map[string]string{"": "[ab/1=1 b/x/y=1 a/1=2]", "a": "[a/1=2]", "ab": "[ab/1=1]", "b": "[b/x/y=1]", "c": "[]"} {
			if got := s.holds("p", kind); got != want {
				t.Errorf("kind %q: %s, want %s", kind, got, want)
			}
		}
		if got := s.holds("pq", ""); got != "[a/1=699]" {
			t.Errorf("pq holds %s", got)
		}
	}
	check()
	if log.read != 7 {
		t.Errorf("%d events were read for 7 records", log.read)
	}
	for _, kind := range []string{"", "a/b"} {
		if err := s.agent.Access("p").PutRecord(t.Context(), kind, "", json.RawMessage("1")); err == nil {
			t.Errorf("kind %q was taken", kind)
		}
	}
	s.open()
	check()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.agent.Access("p").Records(ctx, "") {
		if err == nil {
			t.Error("a reader that has gone was served")
		}
	}
}
