package main_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// spiller is a model that prints at length once and reads what was kept when it is told
// to: "READ ID search TEXT".
type spiller struct {
	print scripted.Reply

	mu   sync.Mutex
	seen []string // the results, as the requests showed them
}

func (s *spiller) Reply(req llm.Request) scripted.Reply {
	last := req.Messages[len(req.Messages)-1]
	s.mu.Lock()
	defer s.mu.Unlock()
	if last.Role == llm.RoleTool {
		s.seen = append(s.seen, last.Text())
		return scripted.Reply{Text: "Seen."}
	}
	for _, line := range strings.Split(last.Text(), "\n") {
		if rest, ok := strings.CutPrefix(line, "READ "); ok {
			id, text, _ := strings.Cut(rest, " search ")
			return *callOf("read_spill", object{"id": id, "search": text})
		}
	}
	return s.print
}

func (s *spiller) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		return ""
	}
	return s.seen[len(s.seen)-1]
}

// longOutput has its error in the middle of what a shell keeps.
const longOutput = `i=0; while [ $i -lt 4000 ]; do echo "line $i says nothing of note at all"; [ $i = 2500 ] && echo "ERROR-KITE: the wing is broken"; i=$((i+1)); done`

// A result is spilled, then a trim passes over its preview, then a reset takes it off
// the surface: the id stands as long as the preview does, and reads the same all along,
// here, after a resume, and never in another session.
func TestW1_C153_C154_C156_ASpillIsReadAfterTrimAndReset(t *testing.T) {
	t.Parallel()
	s := &spiller{print: *callOf("shell", object{"description": "print", "command": longOutput})}
	p, _ := boxed(t, s, "")
	write(t, p.path("work", "case.toml"), strings.Replace(crashProfile, "use = \"shell\"\n", "use = \"shell\"\nconfig = {max_output_bytes = 400000}\n", 1))
	trimmer := faulty(t, p.sandbox, trimmerName)
	p.ends(t, 0, "")
	id := p.lastSession()
	preview := s.last()
	found := handle.FindStringSubmatch(preview)
	if found == nil || strings.Contains(preview, "ERROR-KITE") || !strings.HasPrefix(preview, "line 0 says") || !strings.Contains(preview, "line 3999 says") {
		t.Fatalf("shown is %.300q … %.300q", preview, preview[max(0, len(preview)-300):])
	}
	read := func(what string, flags ...string) {
		t.Helper()
		p.ok(t, append([]string{"resume", id, "-q", "READ " + found[1] + " search ERROR-KITE"}, flags...)...)
		if got := s.last(); !strings.Contains(got, "ERROR-KITE: the wing is broken") {
			t.Errorf("%s: %.300q", what, got)
		}
	}
	read("as it came")
	p.ok(t, "compact", "--session", id, "-P", "case.toml", "-c", "compaction.strategy="+trimmer)
	trimmed := find(t, p.log(t), session.KindToolResult, func(r session.ToolResult) bool { return r.Code == "TRIMMED" })
	if len(trimmed) == 0 {
		t.Fatalf("nothing was trimmed:%s", kindsOf(p.log(t)))
	}
	for _, e := range trimmed {
		if r, _ := session.Decode[session.ToolResult](e); !handle.MatchString(r.Message.Text()) && strings.Contains(r.Message.Text(), "line 0 says") {
			t.Errorf("a trim took the way to the rest: %q", r.Message.Text())
		}
	}
	read("after a trim", "-P", "case.toml", "-c", "compaction.strategy="+trimmer)
	p.ok(t, "compact", "--session", id, "-P", "case.toml")
	read("after a reset", "-P", "case.toml")

	for _, wrong := range []string{"../../etc/passwd", "spill-999999", "spill-1", "spill--7", "/etc/passwd", "spill-" + strings.Repeat("9", 40), strings.TrimPrefix(found[1], "spill-") + "x"} {
		p.ok(t, "resume", id, "-q", "READ "+wrong+" search root")
		if got := s.last(); !strings.HasPrefix(got, "Error: ") || strings.Contains(got, "root:") || !strings.Contains(got, "keeps no result under the id") {
			t.Errorf("%s: %.300q", wrong, got)
		}
	}
	other := &spiller{print: scripted.Reply{Text: "Nothing to do."}}
	q, _ := boxed(t, other, "")
	p.env = append(p.env, "OPENAI_BASE_URL="+q.server.BaseURL())
	p.ok(t, "run", "-q", "-P", "case.toml", "READ "+found[1]+" search ERROR-KITE")
	if got := other.last(); !strings.Contains(got, "keeps no result under the id") {
		t.Errorf("from another session: %.300q", got)
	}
}

// What is more than a shell keeps is gone, and the result says so and how much.
func TestW1_C153_WhatIsNotKeptIsAnnounced(t *testing.T) {
	t.Parallel()
	s := &spiller{print: *callOf("shell", object{"description": "print", "command": "head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo the end"})}
	p, _ := boxed(t, s, "")
	p.ends(t, 0, "")
	if got := s.last(); !strings.Contains(got, "the end") || !strings.Contains(got, "bytes") || !handle.MatchString(got) {
		t.Errorf("shown is %.400q … %.300q", got, got[max(0, len(got)-300):])
	}
}
