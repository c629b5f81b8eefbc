package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

func box(names ...string) []tool.Provider {
	b := newToolbox("p")
	for _, n := range names {
		b.add(tool.Spec{Name: n, Description: "does " + n, Guidance: "Use " + n + " well."}, echo)
	}
	return []tool.Provider{b}
}

func declared(r llm.Request) (names []string) {
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// The declarations of a session change only where it is resumed with other plugins,
// and then the conversation says so by name, once (SP8).
func TestSP8_OtherToolsAtAResumeAreAnnouncedInHistory(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a read {}`), says("one"), says("two"), says("three"), says("four"), says("five"), says("six"))
	s.tools = box("read", "grep", "run")
	s.completed("go")
	s.agent = nil
	s.completed("the same plugins")
	s.agent, s.tools = nil, box("run", "fetch", "read")
	s.tools[0].(*toolbox).specs[0].Schema = []byte(`{"type":"object","required":[]}`)
	s.completed("other plugins")
	s.completed("and on")
	s.agent, s.tools = nil, slices.Clone(s.tools)
	b := *s.tools[0].(*toolbox)
	b.specs = []tool.Spec{b.specs[2], b.specs[0], b.specs[1]}
	s.tools[0] = &b
	s.completed("another order")
	const said = "user: The tools were changed here. Added: fetch. Removed: grep. With another declaration: run."
	for n, want := range []int{0, 0, 0, 1, 1, 1} {
		found := slices.IndexFunc(s.shown(n), func(m string) bool { return strings.HasPrefix(m, said) })
		if (found >= 0) != (want == 1) || strings.Count(strings.Join(s.shown(n), "|"), "The tools were changed") != want {
			t.Errorf("request %d shows %q", n, s.shown(n))
		}
		if found >= 0 && s.shown(n)[found+1] != "user: other plugins" {
			t.Errorf("request %d says it in another place: %q", n, s.shown(n))
		}
	}
	for n, want := range []string{"read grep run", "read grep run", "read grep run", "run fetch read", "run fetch read", "read run fetch"} {
		if got := strings.Join(declared(s.model.requests[n]), " "); got != want {
			t.Errorf("request %d declares %s, want %s", n, got, want)
		}
	}
	if n := s.count(session.KindRequestHeader); n != 3 {
		t.Errorf("%d headers; they change with the declarations alone", n)
	}
}

// Other tools count before the request that declares them: a larger set may cross
// the line (C2, SP8).
func TestSP8_C2_OtherToolsAreMeasuredBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"), says("three"), says("four"))
	s.tools = box("read")
	s.completed("go")
	s.agent, s.tools = nil, box("read")
	s.tools[0].(*toolbox).specs[0].Description = strings.Repeat("x", 3000)
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget.Window, s.options.Budget.ResetAt = 2000, s.agentUse()+500
	s.completed("on")
	for _, e := range s.events() {
		if ended, _ := session.Decode[session.CompactionEnded](e); e.Kind == session.KindCompactionEnded {
			if ended.Trigger != session.TriggerPressure {
				t.Errorf("1000 tokens of new declarations crossed the line unseen until %s: %s", ended.Trigger, s.kinds())
			}
			return
		}
	}
	t.Errorf("nothing was compacted: %s", s.kinds())
}

// agentUse is what the log measures.
func (s *setup) agentUse() int {
	s.open()
	defer func() { s.agent = nil }()
	return s.agent.Meter().Measured
}

// Sections and contexts show only while their tool does, also where the tools are
// others after a resume (SP9).
func TestSP9_WordsAboutAToolComeAndGoWithIt(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"), says("three"))
	s.options.Prompts = []prompt.Provider{&offers{
		sections: func() ([]prompt.Section, error) {
			return []prompt.Section{{ID: "s", Order: 3000, Text: "section of grep", Tool: "grep"}, {ID: "all", Order: 3001, Text: "section of all"}}, nil
		},
		contexts: func() ([]prompt.Context, error) {
			return []prompt.Context{{ID: "c", Order: 300, Text: "context of grep", Tool: "grep"}, {ID: "o", Text: "own words of grep", Tool: "grep", Own: true}}, nil
		},
	}}
	for n, tools := range [][]string{{"read", "grep"}, {"read"}, {"read", "grep"}} {
		s.agent, s.tools = nil, box(tools...)
		before := 0
		if n > 0 {
			before = len(s.shown(n-1)) + 1
		}
		s.completed("go")
		system, fresh := s.shown(n)[0], strings.Join(s.shown(n)[before:], "|")
		there := n != 1
		for _, words := range []string{"section of grep", "Use grep well."} {
			if strings.Contains(system, words) != there {
				t.Errorf("with %v the system prompt is %q", tools, system)
			}
		}
		if !strings.Contains(system, "section of all") || !strings.Contains(system, "Use read well.") {
			t.Errorf("with %v the system prompt lacks what has its tool: %q", tools, system)
		}
		if strings.Contains(fresh, "context of grep") != there || strings.Contains(fresh, "own words of grep") != (n == 0) {
			t.Errorf("with %v the new messages are %q", tools, fresh)
		}
	}
}

// A working directory that is gone at a resume is told of, with the one in its place
// (SP4).
func TestSP4_ADirectoryThatIsGoneIsToldOf(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "deep")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newSetup(t, calls(`a cd {}`), says("moved"), says("on"), says("and on"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "cd"}, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "moved", Effects: []tool.Effect{tool.EffectChangeDirectory}, Note: gone}, nil
	})}
	s.completed("go")
	if got := s.last(1); !strings.Contains(got, `Working directory: "`+gone+`"`) {
		t.Errorf("after the change the model reads %q", got)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	s.agent = nil
	s.completed("go on")
	s.completed("go on")
	got := strings.Join(s.shown(3), "|")
	if want := `user: The working directory "` + gone + `" of earlier steps is unavailable. Tools start from "/w".`; strings.Count(got, want) != 1 || !strings.Contains(got, `Working directory: "/w".`) {
		t.Errorf("the model reads %q", got)
	}
}

// A subagent's boundary stands in its own session alone (SP4).
func TestSP4_OnlyASubagentIsToldItsBoundary(t *testing.T) {
	t.Parallel()
	for _, parent := range []string{"", "s0"} {
		s := newSetup(t, says("done"))
		log, err := s.store.Create(t.Context(), session.Created{ID: "c1" + parent, Workspace: "/w", Parent: parent, Depth: len(parent) / 2})
		if err != nil {
			t.Fatal(err)
		}
		s.log, s.options.Log = log, log
		s.completed("go")
		if got := strings.Contains(strings.Join(s.shown(0), "|"), "You are a subagent"); got != (parent != "") {
			t.Errorf("parent %q: %q", parent, s.shown(0))
		}
	}
}

// The persona is the profile's own: it is interpolated, and a variable that nobody
// knows ends the turn with a word on what there is (SP1, SP3).
func TestSP3_SP1_ThePersonaIsInterpolatedStrictly(t *testing.T) {
	t.Parallel()
	for persona, want := range map[string]string{"You help with {{model}}.": "", "You work in {{cwd}}.": "unknown variable {{cwd}}"} {
		s := newSetup(t, says("done"))
		s.options.Persona = agent.Persona{Prefix: persona}
		reason, failure := s.run("go")
		if want == "" {
			if reason != session.ReasonCompleted || !strings.Contains(s.shown(0)[0], "You help with m.") {
				t.Errorf("%q ended %s", persona, reason)
			}
			continue
		}
		if reason != session.ReasonError || !strings.Contains(failure.Message, want) || !strings.Contains(failure.Message, "{{model}}") || len(s.model.requests) != 0 {
			t.Errorf("%q ended %s %+v", persona, reason, failure)
		}
	}
}

// The measure is never nothing while something stands there: without usage, after a
// usage of nothing, after a compaction, after a resume (C2, C060).
func TestC2_C060_TheMeasureIsNeverNothing(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says(strings.Repeat("abc", 400)), says("two"), says("three"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Strategy.Auto = false
	measure := func(when string, atLeast, atMost int) {
		t.Helper()
		m := s.agent.Meter()
		if m.Measured < atLeast || m.Measured > atMost || m.Source != "estimate" {
			t.Errorf("%s: %d tokens by %s, want %d..%d by estimate", when, m.Measured, m.Source, atLeast, atMost)
		}
	}
	s.completed("go")
	full := s.agent.Meter().Measured
	measure("after an answer without usage", 400, 2000)
	s.agent = nil
	s.open()
	measure("after a resume", full, full)
	if did, err := s.agent.Compact(t.Context(), ""); !did || err != nil {
		t.Fatal(did, err)
	}
	measure("after a compaction", 20, full-300)
	s.completed("on")
	measure("after the next answer", 40, full-200)
}
