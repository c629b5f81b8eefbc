package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// A chat that rests does at once what another process, or the person, wants undone.
func TestC19_L4_AChatUndoes(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, scripted.Reply{Text: "Hello."}, scripted.Reply{Text: "Still here."})
	s := u.chat(t, 110, 50, "-P", "notesoup", strings.Repeat("A line of a long request.\n", 300))
	s.sees("Hello.")
	s.ready()
	id := s.id()
	before := u.context(t, "--session", id)
	s.says("/undo")
	s.sees("! nothing is undone: ")
	s.ready()
	s.says("/compact")
	s.sees("↻ reset #1 notesoup ")
	s.ready()
	s.says("/context")
	s.sees("undo   /undo takes compaction #1 back")
	s.ready()
	var done struct{ State, Owner string }
	o := u.ok(t, "context", "undo", "--session", id, "--json")
	if err := json.Unmarshal([]byte(o.stdout), &done); err != nil || done.State != "undone" || !strings.HasPrefix(done.Owner, "pid ") {
		t.Errorf("%v: %s", err, o.stdout)
	}
	s.sees("↺ compaction #1 is undone")
	s.ready()
	if c := u.context(t, "--session", id); c.surface() != before.surface() || !c.Rest {
		t.Errorf("before %+v\nafter %+v", before, c)
	}
	s.says("/compact")
	s.sees("↻ reset #2 notesoup ", "automatic compaction acts again")
	s.ready()
	s.types("/un")
	s.shows("/undo  take the newest compaction back")
	s.types(tab, enter)
	s.sees("↺ compaction #2 is undone")
	s.ready()
	s.says("/context")
	s.sees("rest   automatic compaction rests after an undo")
	s.says("more")
	s.sees("Still here.")
	s.ready()
	if c := u.context(t, "--session", id); c.Ordinal != 1 || c.Compactions.Count != 2 {
		t.Errorf("after all %+v", c)
	}
	s.says("/quit")
	s.ends()
	u.ok(t, "session", "verify", id)
}

// A chat with an archived session says so, when it begins and when it happens.
func TestL18_AChatSaysThatItsSessionIsArchived(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, scripted.Reply{Text: "Hello."}, scripted.Reply{Text: "Back again."})
	s := u.chat(t, 100, 40, "-P", "none", "hello")
	s.sees("Hello.")
	s.ready()
	id := s.id()
	u.leave(t, id, session.Mail{Command: session.CommandArchive, Text: `{"archived":true}`})
	s.sees("! the session is archived", "tureen session archive --undo "+id)
	s.says("/quit")
	s.ends()
	s = u.chat(t, 100, 40, "-P", "none", "--resume", id)
	s.sees("! the session is archived", "tureen session archive --undo "+id)
	s.ready()
	s.says("are you there?")
	s.sees("ARCHIVED")
	s.ready()
	if n := u.server.Stats().Requests; n != 1 {
		t.Errorf("%d requests of an archived session", n)
	}
	u.leave(t, id, session.Mail{Command: session.CommandArchive, Text: `{"archived":false}`})
	s.sees("· the session is no longer archived", "Back again.")
	s.ready()
	s.says("/quit")
	s.ends()
}
