package host_test

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
)

// stores are one of each kind that a session moves between.
func stores(t *testing.T) map[string]session.Store {
	return map[string]session.Store{"memory": memlog.New(), "sqlite": sqlite(t)}
}

// exported is a session as JSON lines; its log is held against its rules.
func exported(t *testing.T, store session.Store, id string) string {
	t.Helper()
	r, err := store.View(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if err := session.WriteLines(&b, r.Read(t.Context(), session.Query{})); err != nil {
		t.Fatal(err)
	}
	if violations, err := fold.Check(t.Context(), r); err != nil || len(violations) > 0 {
		t.Errorf("log of %s: %v, %+v", id, err, violations)
	}
	return b.String()
}

// talked is a home with two turns and a subagent that has ended.
func talked(t *testing.T, store session.Store) (*home, session.Child) {
	t.Helper()
	h := newHome(t, settings{store: store, reply: func(llm.Request) scripted.Reply { return scripted.Reply{Text: "Done <&> \u2028."} }})
	child := h.spawn("do it")
	h.say("one")
	h.say("two")
	return h, child
}

// TestMove_ExportAndImportAreExact: byte for byte, into the same store under a new id and
// into another under its own, for a subagent's session too; what was imported goes on.
func TestMove_ExportAndImportAreExact(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		h, child := talked(t, store)
		h.close()
		for _, id := range []string{h.ID(), child.ID} {
			text := exported(t, store, id)
			same, err := host.Import(t.Context(), store, strings.NewReader(text), nil)
			if err != nil || same.Session == id || same.From != id || exported(t, store, same.Session) != text {
				t.Errorf("%s, into itself: %+v, %v", name, same, err)
			}
			for other, to := range stores(t) {
				moved, err := host.Import(t.Context(), to, strings.NewReader(text), nil)
				if err != nil || moved.Session != id || exported(t, to, id) != text {
					t.Errorf("%s to %s: %+v, %v", name, other, moved, err)
				}
			}
			c := h.openChild(same.Session)
			c.say("go on")
			c.close()
			if more := exported(t, store, same.Session); !strings.HasPrefix(more, text) || len(more) == len(text) {
				t.Errorf("%s: what was imported does not go on", name)
			}
		}
	}
}

// ends is the index of the newest line that ends a turn.
func ends(lines []string) int {
	at := len(lines) - 1
	for !strings.Contains(lines[at], `"kind":"turn.ended"`) {
		at--
	}
	return at
}

// TestMove_WhatCannotBeALogIsRefused: with its line, and nothing is left; an id that is
// none of ours is replaced.
func TestMove_WhatCannotBeALogIsRefused(t *testing.T) {
	t.Parallel()
	h, _ := talked(t, nil)
	text := exported(t, h.store, h.ID())
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	for name, bad := range map[string]string{
		"empty":         "",
		"truncated":     text[:len(text)-20],
		"a gap":         strings.Join(append(append([]string{}, lines[:3]...), lines[4:]...), ""),
		"a broken rule": text + strings.Replace(lines[ends(lines)], `"seq":`+strconv.Itoa(ends(lines)+1)+`,`, `"seq":`+strconv.Itoa(len(lines)+1)+`,`, 1),
		"no fold":       strings.Join(lines[:len(lines)-1], "") + strings.Replace(lines[len(lines)-1], `"kind":`, `"op":{"kind":"drop","from":999,"to":999},"kind":`, 1),
	} {
		store := memlog.New()
		_, err := host.Import(t.Context(), store, strings.NewReader(bad), nil)
		var line *session.LineError
		if !errors.As(err, &line) || line.Line < 1 {
			t.Errorf("%s: %v", name, err)
		}
		var rule *host.RuleError
		if errors.As(err, &rule) && (name != "a broken rule" && name != "no fold" || line.Line != len(lines)+1 && line.Line != len(lines)) {
			t.Errorf("%s: %v", name, err)
		} else if rule == nil && name == "a broken rule" {
			t.Errorf("%s: %v", name, err)
		}
		if list, err := store.List(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%s leaves %+v, %v", name, list, err)
		}
	}
	for _, id := range []string{"", "last", "../up", "s 1", strings.ToUpper(h.ID()), strings.Repeat("x", 500)} {
		moved, err := host.Import(t.Context(), memlog.New(), strings.NewReader(strings.Replace(text, `"id":"`+h.ID()+`"`, `"id":"`+id+`"`, 1)), nil)
		if err != nil || moved.Session == id || len(moved.Session) != len(h.ID()) {
			t.Errorf("id %q: %+v, %v", id, moved, err)
		}
	}
}

// TestMove_AForkBeginsAtAnyEvent: of a session that is at work, at every event of its log,
// it keeps the rules, says where it comes from, has no subagents and can go on.
func TestMove_AForkBeginsAtAnyEvent(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		h, _ := talked(t, store)
		before := exported(t, store, h.ID())
		head := int64(strings.Count(before, "\n"))
		for at := int64(0); at <= head; at++ {
			moved, err := host.Fork(t.Context(), store, h.ID(), at, nil)
			if err != nil {
				t.Fatalf("%s at %d: %v", name, at, err)
			}
			log := exported(t, store, moved.Session)
			if moved.From != h.ID() || moved.Session == h.ID() || int64(strings.Count(log, "\n")) != moved.Events || moved.Events < moved.At {
				t.Errorf("%s at %d: %+v", name, at, moved)
			}
		}
		var cut *fold.CutError
		for _, at := range []int64{-1, head + 1} {
			if _, err := host.Fork(t.Context(), store, h.ID(), at, nil); !errors.As(err, &cut) {
				t.Errorf("%s at %d: %v", name, at, err)
			}
		}
		moved, err := host.Fork(t.Context(), store, h.ID(), 0, nil)
		if err != nil || moved.At != head {
			t.Fatalf("%s: %+v, %v", name, moved, err)
		}
		branch := h.openChild(moved.Session)
		if n := len(branch.Agent.Children()); n != 0 || branch.Agent.Usage().Total() != 0 {
			t.Errorf("%s: the branch has %d subagents and used %d", name, n, branch.Agent.Usage().Total())
		}
		branch.say("go on")
		if branch.Agent.Usage().Total() == 0 || exported(t, store, h.ID()) != before {
			t.Errorf("%s: the branch used nothing, or the other session changed", name)
		}
	}
}
