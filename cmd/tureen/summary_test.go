package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// condenses tells whether a request is for a summary.
func condenses(req llm.Request) bool {
	return strings.HasPrefix(req.Messages[len(req.Messages)-1].Text(), summaryAsk())
}

// long is a crew with a session of about 100,000 tokens, made with a large window, and
// a new server whose model takes 32,000.
func long(t *testing.T, condense func(llm.Request) string) (*crew, *overheard, string) {
	t.Helper()
	p := planned(t, user(t), nil)
	write(t, p.path("work", "case.toml"), crashProfile)
	var replies []scripted.Reply
	for n := 1; n <= 8; n++ {
		write(t, p.path("work", fmt.Sprintf("part%d.md", n)), strings.Repeat(fmt.Sprintf("A line of part %d.\n", n), 1900))
		replies = append(replies, batch(n, "read", reads(fmt.Sprintf("part%d.md", n))))
	}
	p.flags = []string{"-P", "case.toml", "-c", "compaction.strategy=summary"}
	p.task = "Read the PELICAN book."
	serve := func(window int, agent scripted.Agent) *overheard {
		o := &overheard{Agent: agent}
		server, err := scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: window, MaxOutputTokens: 2000, Agent: o})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		p.server, p.env = server, append(p.env, "OPENAI_BASE_URL="+server.BaseURL())
		return o
	}
	serve(200000, &plan{replies: append(replies, scripted.Reply{Text: "It is read."})})
	flags := p.flags
	p.flags = append(p.flags, "-c", "model.context_window=200000")
	p.ends(t, 0, "")
	p.flags = flags
	return p, serve(32000, keeper{&plan{replies: []scripted.Reply{{Text: "Goodbye."}}}, condense}), p.lastSession()
}

func TestK2_C010_AMoveToASmallerModelIsStaged(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	p, model, id := long(t, func(llm.Request) string { return fmt.Sprintf("## Current Work\n- PART %d is read", asked.Add(1)) })
	if k := p.crash(t, "", p.resume(id, "Say goodbye.")...); k.exit != 0 {
		t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
	}
	calls := int(asked.Load())
	ended, err := session.Decode[session.CompactionEnded](compacted(t, p.log(t)))
	if err != nil || calls < 3 || ended.ModelCalls != calls || ended.Kind != "summary" {
		t.Errorf("%d calls, %+v, %v", calls, ended, err)
	}
	if s := p.server.Stats(); s.Refused > 0 {
		t.Errorf("%d requests were refused", s.Refused)
	}
	requests := model.asked()
	for i, req := range requests[:calls] {
		if seen := fmt.Sprintf("PART %d is read", i); !condenses(req) || i > 0 && len(holding(req, seen)) != 1 {
			t.Errorf("request %d of %d is no stage, or lacks %q:%s", i+1, calls, seen, roles(req))
		}
	}
	last := requests[len(requests)-1]
	if len(holding(last, fmt.Sprintf("PART %d is read", calls))) != 1 || len(holding(last, p.task)) != 1 || len(holding(last, "Say goodbye.")) != 1 {
		t.Errorf("the request after the compaction:%s", roles(last))
	}
}

func TestC6_CancelInASecondStageAppliesNothing(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	var asked atomic.Int64
	p, _, id := long(t, func(req llm.Request) string {
		if asked.Add(1) == 1 {
			return "PART 1 is read"
		}
		return g.condense(req)
	})
	k := p.start(t, "", p.resume(id, "Say goodbye.")...)
	t.Cleanup(func() { _ = k.cmd.Process.Kill() })
	g.reached(t)
	if err := k.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if k.wait(t); k.exit != 130 || asked.Load() != 2 {
		t.Errorf("exit %d after %d calls: %s", k.exit, asked.Load(), &k.stderr)
	}
	for _, e := range p.log(t) {
		if e.Kind == session.KindCompactionStarted || e.Kind == session.KindCompactionEnded {
			t.Errorf("event %d is %s", e.Seq, e.Kind)
		}
	}
}

// moody answers requests for a summary with nothing, with blanks and with an error.
type moody struct {
	*plan
	asked atomic.Int64
}

func (m *moody) Reply(req llm.Request) scripted.Reply {
	if !condenses(req) {
		return m.plan.Reply(req)
	}
	switch m.asked.Add(1) {
	case 1:
		return scripted.Reply{}
	case 2:
		return scripted.Reply{Text: "   \n"}
	case 3:
		return scripted.Reply{Error: &scripted.Failure{Status: 500, Message: "out of order"}}
	}
	return batch(90, "shell", effect("called"))
}

func TestK3_C016_C017_UselessSummariesChangeNothing(t *testing.T) {
	t.Parallel()
	m := &moody{plan: &plan{replies: []scripted.Reply{half(1), {Text: "It is read."}, {Text: "Goodbye."}}}}
	p, model := boxed(t, m, "", "-c", "compaction.strategy=summary")
	p.ends(t, 0, "")
	id := p.lastSession()
	for n := 1; n <= 4; n++ {
		o := p.sandbox.run(t, append([]string{"compact", id}, p.flags...)...)
		if o.exit == 0 || strings.Contains(strings.ToLower(o.stdout), "compacted") {
			t.Errorf("compaction %d: exit %d, %s", n, o.exit, o.stdout)
		}
	}
	if m.asked.Load() != 4 || exists(p.path("work", "effects.txt")) {
		t.Errorf("%d summaries were asked for, or a call was carried out", m.asked.Load())
	}
	before := model.asked()
	p.crash(t, "", p.resume(id, "Say goodbye.")...)
	after := model.asked()
	if !extends(before[1], after[len(after)-1]) || len(after) != len(before)+1 {
		t.Errorf("the conversation changed:%s", roles(after[len(after)-1]))
	}
	events := p.log(t)
	failed := find(t, events, session.KindCompactionFailed, func(f session.CompactionFailed) bool { return f.Error != "" && f.Trigger == session.TriggerManual })
	if n := len(find(t, events, session.KindCompactionEnded, func(session.CompactionEnded) bool { return true })); len(failed) != 4 || n > 0 {
		t.Errorf("%d failed, %d ended", len(failed), n)
	}
}

// The request for a summary repeats the request before it byte for byte up to the cut,
// tools included, and has the instruction at its end.
func TestC6_TheSummaryIsAskedForOnTheSamePrefix(t *testing.T) {
	t.Parallel()
	p, _ := boxed(t, keeper{&plan{replies: []scripted.Reply{half(1), much(2), {Text: "Done."}}}, func(llm.Request) string { return "It is read." }}, "",
		"-c", "compaction.strategy=summary")
	p.ends(t, 0, "")
	type body struct {
		Messages []json.RawMessage `json:"messages"`
		Tools    json.RawMessage   `json:"tools"`
	}
	var before, ask body
	for _, raw := range p.server.Requests() {
		var b body
		if err := json.Unmarshal(raw, &b); err != nil {
			t.Fatal(err)
		}
		var last struct{ Content string }
		if err := json.Unmarshal(b.Messages[len(b.Messages)-1], &last); err == nil && strings.HasPrefix(last.Content, summaryAsk()) {
			ask = b
			break
		}
		before = b
	}
	n := len(ask.Messages) - 1
	if n < 3 || n > len(before.Messages) || len(ask.Tools) < 100 || !bytes.Equal(ask.Tools, before.Tools) {
		t.Fatalf("%d messages after %d, %d bytes of tools after %d", n, len(before.Messages), len(ask.Tools), len(before.Tools))
	}
	for i := range n {
		if !bytes.Equal(ask.Messages[i], before.Messages[i]) {
			t.Errorf("message %d differs:\n%s\n%s", i, before.Messages[i], ask.Messages[i])
		}
	}
}

// The instruction of a file beside the profile is the one that is sent; a file that is
// not there is named with its key before anything is asked.
func TestC7_APromptFileIsTheUsersInstruction(t *testing.T) {
	t.Parallel()
	agent := scripted.AgentFunc(func(req llm.Request) scripted.Reply {
		if last := req.Messages[len(req.Messages)-1].Text(); strings.HasPrefix(last, "Write a haiku") {
			return scripted.Reply{Text: "An old silent pond. " + last}
		}
		return scripted.Reply{Text: strings.Repeat("A long answer. ", 400)}
	})
	p, model := boxed(t, agent, "")
	if err := os.MkdirAll(p.path("work", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, p.path("work", "sub", "own.toml"), strings.Replace(crashProfile, "[[plugins]]", "[compaction.summary]\nguidance = \"Mind the frog.\"\nprompt_file = \"haiku.md\"\n[[plugins]]", 1))
	write(t, p.path("work", "sub", "haiku.md"), "Write a haiku of it.\n")
	p.flags = []string{"-P", "sub/own.toml", "-c", "compaction.strategy=summary"}
	p.ends(t, 0, "")
	p.ok(t, append([]string{"compact", "--instructions", "Loudly.", p.lastSession()}, p.flags...)...)
	requests := model.asked()
	if got := requests[len(requests)-1].Messages; !strings.HasPrefix(got[len(got)-1].Text(), "Write a haiku of it.\n\nMind the frog.\n\nLoudly.\n\n") {
		t.Errorf("asked %q", got[len(got)-1].Text())
	}
	for _, file := range []string{"missing.md", "sub"} {
		o := p.sandbox.run(t, append([]string{"run", "-q", "-c", "compaction.summary.prompt_file=" + file}, append(p.flags, "Hello.")...)...)
		if o.exit != 2 || !strings.Contains(o.stderr, p.path("work", file)) || !strings.Contains(o.stderr, "compaction.summary.prompt_file") {
			t.Errorf("%s: exit %d\n%s", file, o.exit, o.stderr)
		}
	}
	if n := len(model.asked()); n != len(requests) {
		t.Errorf("%d requests were made all the same", n-len(requests))
	}
}

func TestK2_C011_AnOwnModelNeedsItsWindow(t *testing.T) {
	t.Parallel()
	p, model := boxed(t, always(scripted.Reply{Text: "Hello."}), "", "-c", "compaction.strategy=summary", "-c", "compaction.summary.model=small")
	o := p.sandbox.run(t, append([]string{"run", "-q"}, append(p.flags, "Hello.")...)...)
	if o.exit != 2 || !strings.Contains(o.stderr, "compaction.summary.context_window") || len(model.asked()) > 0 {
		t.Errorf("exit %d, %d requests\n%s", o.exit, len(model.asked()), o.stderr)
	}
}
