package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// closing is a crew under notesoup whose third step is one of last words, in which it
// saves a note and tries a command as well.
func closing(t *testing.T) *crew {
	t.Helper()
	p := planned(t, user(t), []scripted.Reply{
		half(1, "shell", effect("c1-0")), much(2, "shell", effect("c2-0")),
		batch(3, "shell", effect("c3-0"), "notes_write", object{"path": "progress", "text": "Step 2 is done: K-17.\n"}, "notes_write", object{"path": "@human/x", "text": "no"}),
		batch(4, "shell", effect("c4-0")), {Text: "The plan is done."}})
	p.flags = append(p.flags, "-c", "compaction.notesoup.last_words=true", "-c", "compaction.trigger_tokens=16000")
	return p
}

const lastWordsBegin = "This window is full and nothing was saved in it."

// TestN15_LastWordsBeforeAForcedReset: one step to save, in which nothing else runs;
// then the reset, and a notebook with what was saved.
func TestN15_LastWordsBeforeAForcedReset(t *testing.T) {
	t.Parallel()
	p := closing(t)
	p.flags = append(p.flags, "-o", "json")
	k := p.crash(t, "", append([]string{"run", "-q"}, append(p.flags, p.task)...)...)
	var result struct {
		ModelCalls  map[string]int `json:"model_calls"`
		Compactions []struct {
			ModelCalls int `json:"model_calls"`
		} `json:"compactions"`
	}
	if err := json.Unmarshal(k.said(), &result); err != nil || k.exit != 0 {
		t.Fatalf("ended with %d: %v, %s%s", k.exit, err, k.said(), &k.stderr)
	}
	if m := result.ModelCalls; m["notes"] != 1 || m["main"] != 4 || m["compaction"] != 0 || m["other"] != 0 || len(result.Compactions) != 1 || result.Compactions[0].ModelCalls != 0 {
		t.Errorf("%+v", result)
	}
	requests := p.server.Requests()
	if len(requests) != 5 {
		t.Fatalf("%d requests", len(requests))
	}
	var sent [5]struct {
		Tools    json.RawMessage `json:"tools"`
		Messages []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
	}
	for i, body := range requests {
		if err := json.Unmarshal(body, &sent[i]); err != nil {
			t.Fatal(err)
		}
		if string(sent[i].Tools) != string(sent[0].Tools) {
			t.Errorf("request %d declares other tools", i)
		}
		last := sent[i].Messages[len(sent[i].Messages)-1]
		if shown := strings.HasPrefix(fmt.Sprint(last.Content), lastWordsBegin); shown != (i == 2) {
			t.Errorf("request %d ends with %.300v", i, last.Content)
		}
	}
	if effects, _ := os.ReadFile(p.path("work", "effects.txt")); string(effects) != "c1-0\nc2-0\nc4-0\n" {
		t.Errorf("effects %q", effects)
	}
	if system := fmt.Sprint(sent[3].Messages[0].Content); !strings.Contains(system, `<notebook window="2"`) || !strings.Contains(system, "K-17") || strings.Contains(string(requests[3]), lastWordsBegin) {
		t.Errorf("the request behind the reset: %.2000s", requests[3])
	}
	results := find(t, p.log(t), session.KindToolResult, func(r session.ToolResult) bool {
		return r.Message.IsError && strings.Contains(r.Message.Text(), "this window is full")
	})
	if len(results) != 2 { // the command and the note of another home
		t.Errorf("%d calls were refused%s", len(results), kindsOf(results))
	}
	if f := p.audit(t, p.lastSession()); !f.none() {
		t.Error(f.String())
	}
}

// TestN15_R1_ACrashAroundLastWords kills the host at each append from the step before
// the grant to the answer behind the reset: it is granted once, and one reset comes.
func TestN15_R1_ACrashAroundLastWords(t *testing.T) {
	t.Parallel()
	for _, point := range []string{
		"kind:tool.result:6:before", "kind:compaction.postponed:1:before", "kind:compaction.postponed:1:during", "kind:compaction.postponed:1:after",
		"kind:message.assistant:3:before", "kind:message.assistant:3:after", "kind:tool.result:9:before", "kind:tool.result:9:after",
		"kind:compaction.ended:1:before", "kind:compaction.ended:1:during", "kind:compaction.ended:1:after", "kind:message.assistant:4:before",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			p := closing(t)
			k := p.crash(t, point, p.run()...)
			if !k.byKill {
				t.Fatalf("the run has no such point; it ended with %d: %s", k.exit, &k.stderr)
			}
			id := p.lastSession()
			p.goOn(t, id)
			events := p.log(t)
			granted := find(t, events, session.KindCompactionPostponed, func(session.CompactionPostponed) bool { return true })
			if n := compactions(t, events); n != 1 || len(granted) != 1 {
				t.Errorf("%d compactions, %d times put off%s", n, len(granted), kindsOf(events))
			}
			if f := p.audit(t, id); !f.none() {
				t.Error(f.String())
			}
		})
	}
}

// TestN12_AFailedWriteBesideEmptyBrainNeverResets: what was not saved must not leave
// the conversation.
func TestN12_AFailedWriteBesideEmptyBrainNeverResets(t *testing.T) {
	t.Parallel()
	note := func(path string) object { return object{"path": path, "text": "x"} }
	for name, beside := range map[string][]any{
		"a write that is refused": {"notes_write", note("../out"), "empty_brain", object{}},
		"a write behind it":       {"empty_brain", object{}, "notes_write", note("@nowhere/x")},
		"a failed read":           {"read", reads("missing.md"), "empty_brain", object{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planned(t, user(t), []scripted.Reply{batch(1, beside...), batch(2, "shell", effect("c2-0")), {Text: "The plan is done."}})
			if k := p.crash(t, "", p.run()...); k.exit != 0 {
				t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
			}
			events := p.log(t)
			dropped := find(t, events, session.KindCompactionDropped, func(d session.CompactionDropped) bool { return d.Why != "" })
			if n := compactions(t, events); n != 0 || len(dropped) != 1 {
				t.Errorf("%d compactions, %d dropped", n, len(dropped))
			}
			if told := string(p.server.Requests()[1]); !strings.Contains(told, "was dropped") {
				t.Errorf("the model is not told: %.2000s", told)
			}
		})
	}
}
