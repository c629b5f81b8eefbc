package main_test

import (
	"fmt"
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

// middle prints a start, so many bytes, the error in their middle, and an end.
func middle(size int) string {
	half := fmt.Sprintf("yes 'nothing of note at all is said here' | head -c %d", size/2/36*36)
	return "echo the start; " + half + "; echo ERROR-KITE: the wing is broken; " + half + "; echo the end"
}

// What a command prints is kept whole however long it is: the model sees start and end,
// the size and the way to the rest, and a search finds what stands in the middle.
func TestW1_C153_TheErrorInTheMiddleIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command    string
		at         int // the line of the error
		start, end string
	}{
		"20 MB":         {middle(20_000_000), 277_779, "the start\n", "\nthe end\n"},
		"30 MB":         {middle(31_000_000), 430_557, "the start\n", "\nthe end\n"},
		"100,000 lines": {"seq 50000; echo ERROR-KITE: the wing is broken; seq 50000 99999", 50_001, "1\n2\n", "\n99999\n"},
		"50,000 hits":   {"yes 'a hit that says nothing' | head -n 50000 | sed '25000s/nothing/ERROR-KITE: the wing is broken/' > f; grep -n hit f", 25_000, "1:a hit", "50000:a hit that says nothing\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &spiller{print: *callOf("shell", object{"description": "print", "command": c.command})}
			p, _ := boxed(t, s, "")
			p.ends(t, 0, "")
			id, preview := p.lastSession(), s.last()
			kept := p.spilled(t, id)["shell"]
			found := handle.FindStringSubmatch(preview)
			if found == nil || strings.Contains(preview, "ERROR-KITE") || !strings.HasPrefix(preview, c.start) || !strings.Contains(preview, c.end) ||
				!strings.Contains(preview, fmt.Sprintf(" of %d bytes. Nothing is lost: ", len(kept.Text))) {
				t.Fatalf("shown is %.200q … %.400q of %d bytes", preview, preview[max(0, len(preview)-400):], len(kept.Text))
			}
			if !strings.HasPrefix(kept.Text, c.start) || !strings.HasSuffix(kept.Text+"\n", c.end) || kept.LeftOut != 0 {
				t.Errorf("kept are %d bytes, %d are left out", len(kept.Text), kept.LeftOut)
			}
			p.ok(t, "resume", id, "-q", "READ "+found[1]+" search error-kite")
			if got := s.last(); !strings.HasPrefix(got, fmt.Sprintf("%d: ", c.at)) || !strings.Contains(got, "ERROR-KITE: the wing is broken\n") {
				t.Errorf("the search found %.300q", got)
			}
		})
	}
}

// What is more than a shell keeps is gone, and preview and pages say so and how much.
func TestW1_C153_C154_WhatIsNotKeptIsAnnounced(t *testing.T) {
	t.Parallel()
	s := &spiller{print: *callOf("shell", object{"description": "print", "command": middle(40_000_000)})}
	p, _ := boxed(t, s, "")
	p.ends(t, 0, "")
	id, preview := p.lastSession(), s.last()
	found := handle.FindStringSubmatch(preview)
	lost := p.spilled(t, id)["shell"].LeftOut
	partial := fmt.Sprintf("The stored text is partial: the tool left out %d more bytes, which are nowhere kept.", lost)
	if found == nil || lost < 7_900_000 || !strings.Contains(preview, partial) || strings.Contains(preview, "Nothing is lost") ||
		!strings.Contains(preview, fmt.Sprintf("\nthe end\n[output truncated; %d bytes in its middle dropped]\n", lost)) {
		t.Fatalf("%d are left out; shown is %.200q … %.600q", lost, preview, preview[max(0, len(preview)-600):])
	}
	p.ok(t, "resume", id, "-q", "READ "+found[1]+" search ERROR-KITE")
	if got := s.last(); !strings.HasPrefix(got, "(Nothing from offset=1 on holds") || !strings.Contains(got, partial) {
		t.Errorf("the search says %.300q", got)
	}
	p.ok(t, "resume", id, "-q", "READ "+found[1]+" search bytes dropped here")
	if got := s.last(); !strings.Contains(got, fmt.Sprintf("[... %d bytes dropped here ...]\n", lost)) {
		t.Errorf("the search for the gap says %.300q", got)
	}
}
