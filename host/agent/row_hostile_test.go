package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/memlog"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
	"github.com/tureen-host/tureen/host/spill"
	"github.com/tureen-host/tureen/host/tool"
)

// hostile is what tools, models and persons may let in. broken tells that the text is
// no UTF-8, so that U+FFFD stands where nothing could.
var hostile = []struct {
	name, piece string
	broken      bool
}{
	{"emoji", "🙂", false}, {"family", "👩\u200d👩\u200d👧\u200d👦", false}, {"marks", "e\u0301\u0327", false}, {"han", "漢", false},
	{"nul", "W\x00s\x00", false}, {"ansi", "\x1b[2J\x1b]0;title\x07\x1b]52;c;aGk=\x1b\\", false}, {"cr", "over\rwritten\r\n", false},
	{"bidi", "\u202eevil\u202c\u2066x\u2069", false}, {"c1", "\u009b31m\u0085", false}, {"separators", "\u2028\u2029\ufeff", false},
	{"invalid", "\xff\xfeab", true}, {"surrogate", "\xed\xa0\x80ab", true}, {"cut", "\xf0\x9f\x99", true},
}

// stores are the places where a session may live; each must take the same text.
func stores(t *testing.T) map[string]session.Store {
	t.Helper()
	lite, err := sqlitelog.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]session.Store{"memory": memlog.New(), "sqlite": lite}
}

// Text of any kind, cut at any offset, goes from a tool through hook, spill, trim,
// store and resume into the next request: valid UTF-8 all the way, within its cap,
// with nothing put in that was not there, the same from each store (C081, C083).
func TestX1_C081_C083_HostileTextGoesAllTheWay(t *testing.T) {
	t.Parallel()
	all := stores(t)
	for _, h := range hostile {
		for shift := range 16 {
			want, places := "", []string{"memory"}
			if shift == 0 {
				places = append(places, "sqlite")
			}
			for _, place := range places {
				text := strings.Repeat("a", shift) + strings.Repeat(h.piece, 45_000/len(h.piece)) + strings.Repeat("z", 20_000)
				got := through(t, all[place], fmt.Sprintf("%s%d", h.name, shift), h.piece, text, h.broken)
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s shifted by %d: %s gives back another conversation", h.name, shift, place)
				}
			}
		}
	}
}

// through runs a session over text and returns the last body, which a resumed
// process sent.
func through(t *testing.T, store session.Store, id, piece, text string, broken bool) string {
	t.Helper()
	fine := func(what, s string) {
		t.Helper()
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") || !broken && strings.Contains(s, "\uFFFD") {
			t.Errorf("%s: %s is no clean text: %+.80q", id, what, s)
		}
	}
	argument, _ := json.Marshal(map[string]string{"text": tool.Clean(piece)})
	w := newWire(t, "!a print "+string(argument)+"\nb print {\"half\":\"\\ud800\",\"nul\":\"\\u0000\"}", "said "+tool.Clean(piece), "and on")
	s := w.over(newSetup(t))
	log, err := store.Create(t.Context(), session.Created{ID: id, Workspace: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	s.log, s.options.Log = log, log
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "print"}, func(_ context.Context, c tool.Call) (tool.Result, error) {
		fine("an argument", string(c.Arguments))
		return tool.Result{Text: text, Contexts: []string{piece + "context"}}, nil
	})}
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.AfterTool}, after: func(o hook.ToolOutcome) (hook.OutcomeDecision, error) {
		fine("what a hook sees", o.Text)
		return hook.OutcomeDecision{}, nil
	}}}
	trims := 0
	withStrategy(s, &strategy{propose: func(_ context.Context, in compaction.Input) (compaction.Proposal, error) {
		p := compaction.Proposal{Revision: in.Revision, Kind: compaction.KindTrim}
		for n := range in.Outline {
			if n.Role == llm.RoleTool {
				trims++
				p.Edits = append(p.Edits, compaction.Edit{Trim: &compaction.Trim{Node: n.Seq, Head: 500 + len(id)%16, Tail: 200}})
			}
		}
		return p, nil
	}})
	s.options.Strategy.Auto = false
	s.completed(piece + "go")
	for call, shown := range s.resultsOf(w.sent()[1]) {
		fine("a result", shown)
		if n := llm.EstimateText(shown); n > spill.MaxInline {
			t.Errorf("%s: the result of %s shows %d tokens", id, call, n)
		}
	}
	if did, err := s.agent.Compact(t.Context(), ""); err != nil || !did || trims == 0 {
		t.Fatal(did, err, trims)
	}
	s.agent = nil
	s.completed("resumed")
	for _, e := range s.events() {
		if !utf8.Valid(e.Data) || bytes.IndexByte(e.Data, 0) >= 0 || e.Kind == session.KindToolSpilled && !strings.Contains(string(e.Data), "zzz") {
			t.Errorf("%s: event %d (%s) is no clean text", id, e.Seq, e.Kind)
		}
	}
	last := w.sent()[len(w.sent())-1]
	fine("a body", strings.ReplaceAll(last.messages, `\ufffd`, ""))
	var messages []said
	for _, raw := range last.list {
		var m said
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Calls {
			if !json.Valid([]byte(c.Function.Arguments)) || strings.Contains(c.Function.Arguments, `\ud800`) {
				t.Errorf("%s: arguments go back as %s", id, c.Function.Arguments)
			}
		}
		messages = append(messages, m)
	}
	if !slices.ContainsFunc(messages, func(m said) bool { return m.Role == "user" && m.Content == tool.Clean(piece)+"go" }) {
		t.Errorf("%s: what the person said is not in the request", id)
	}
	return last.messages
}

// said is a message as the wire has it.
type said struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	CallID  string `json:"tool_call_id"`
	Calls   []struct {
		Function struct{ Name, Arguments string } `json:"function"`
	} `json:"tool_calls"`
}

// resultsOf lists the results in a body by call.
func (s *setup) resultsOf(b body) map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for _, raw := range b.list {
		var m said
		if err := json.Unmarshal(raw, &m); err != nil {
			s.t.Fatal(err)
		}
		if m.Role == "tool" {
			out[m.CallID] = m.Content
		}
	}
	if len(out) == 0 {
		s.t.Error("the body shows no result")
	}
	return out
}
