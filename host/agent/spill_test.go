package agent_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/spill"
	"github.com/tureen-host/tureen/host/tool"
)

// prints is a provider whose tools answer with the texts, in parallel.
func prints(texts map[string]string) *toolbox {
	box := newToolbox("p")
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		box.add(tool.Spec{Name: name, Parallel: name != "alone", NoSpill: name == "paged" || name == "endless"}, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: texts[name], IsError: strings.HasPrefix(texts[name], "Error: ")}, nil
		})
	}
	return box
}

// spilled lists what the log keeps whole, by call.
func (s *setup) spilled() map[string]session.Spilled {
	s.t.Helper()
	kept := map[string]session.Spilled{}
	for _, e := range s.events() {
		if e.Kind == session.KindToolSpilled {
			p, err := session.Decode[session.Spilled](e)
			if err != nil {
				s.t.Fatal(err)
			}
			kept[p.CallID] = p
		}
	}
	return kept
}

// results are the tool messages of the n-th request, by call.
func (s *setup) results(n int) map[string]string {
	s.t.Helper()
	s.shown(n)
	results := map[string]string{}
	for _, m := range s.model.requests[n].Messages {
		if m.Role == llm.RoleTool {
			results[m.CallID] = m.Text()
		}
	}
	return results
}

func words(tokens int) string { return strings.Repeat("ab\n", tokens) }

func TestC14_T14_AResultOverTheCapIsShownShortened(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"atcap": words(spill.MaxInline), "over": words(spill.MaxInline) + "x", "failed": "Error: " + words(20_000),
		"alone": words(400_000), "paged": words(spill.MaxPaged), "endless": words(spill.MaxPaged) + "x", "none": "",
	}
	for name, text := range texts {
		s := newSetup(t, calls("a "+name+" {}"), says("done"))
		s.tools = []tool.Provider{prints(texts)}
		s.completed("go")
		got, whole := s.results(1)["a"], name == "atcap" || name == "paged" || name == "none"
		kept, isKept := s.spilled()["a"]
		switch {
		case isKept == whole:
			t.Errorf("%s: kept %v", name, isKept)
		case whole && got != text && (name != "none" || got != "(no output)"):
			t.Errorf("%s: %d bytes are shown of %d", name, len(got), len(text))
		case !whole && (kept.Text != text || kept.Bytes != len(text) || kept.Tokens != llm.EstimateText(text) || kept.Name != name):
			t.Errorf("%s: kept is %d bytes, %d lines, %d tokens of %s", name, kept.Bytes, kept.Lines, kept.Tokens, kept.Name)
		case !whole && (llm.EstimateText(got) > spill.MaxInline || llm.EstimateText(got) < spill.MaxInline*3/4 || !strings.HasPrefix(got, text[:9000])):
			t.Errorf("%s: %d tokens are shown: %.80q", name, llm.EstimateText(got), got)
		}
	}
}

// appends is a log that remembers what each append wrote.
type appends struct {
	session.Log
	kinds []string
}

func (b *appends) Append(ctx context.Context, batch session.Batch) (int64, error) {
	var kinds []string
	for _, e := range batch.Events {
		kinds = append(kinds, string(e.Kind))
	}
	b.kinds = append(b.kinds, strings.Join(kinds, " "))
	return b.Log.Append(ctx, batch)
}

func TestC15_TheWholeTextIsWrittenWithTheResultThatShowsIt(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls("a over {}", "b short {}", "c over {}"), says("done"))
	s.tools = []tool.Provider{prints(map[string]string{"over": words(13_000), "short": "s"})}
	log := &appends{Log: s.log}
	s.options.Log = log
	s.completed("go")
	want := "tool.spilled tool.result tool.result tool.spilled tool.result step.ended"
	if !slices.ContainsFunc(log.kinds, func(k string) bool { return strings.HasPrefix(k, want) }) {
		t.Errorf("no append begins %q:\n%s", want, strings.Join(log.kinds, "\n"))
	}
	for _, e := range s.events() {
		if p, err := session.Decode[session.ToolResult](e); e.Kind == session.KindToolResult && (err != nil || (p.Spilled == e.Seq-1) != (p.Message.CallID != "b")) {
			t.Errorf("the result of %s at %d points at %d (%v)", p.Message.CallID, e.Seq, p.Spilled, err)
		}
	}
	state, err := fold.Full(t.Context(), s.log)
	if err != nil || state.Unknown != 0 {
		t.Errorf("%d unknown events, %v", state.Unknown, err)
	}
}

func TestT14_ManyLargeResultsShareOneAnswer(t *testing.T) {
	t.Parallel()
	var batch []string
	for i := range 10 {
		batch = append(batch, fmt.Sprintf("c%d twelve {}", i))
	}
	s := newSetup(t, calls(append(batch, "d alone {}", "e short {}")...), says("done"))
	s.tools = []tool.Provider{prints(map[string]string{"twelve": words(12_000), "alone": words(9000), "short": "s"})}
	s.completed("go")
	sum, whole := 0, ""
	for id, text := range s.results(1) {
		sum += llm.EstimateText(text)
		if _, kept := s.spilled()[id]; !kept {
			whole += id
		}
	}
	if sum > spill.MaxBatch || s.results(1)["e"] != "s" || len(s.spilled()) != 8 || len(whole) != len("c7c8c9e") {
		t.Errorf("%d tokens are shown, %s whole", sum, whole)
	}
}

func TestT14_ANearLineMakesTheShareSmaller(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls("a ten {}", "b ten {}"), says("done"))
	s.options.Budget.Window, s.options.Budget.ResetAt = 40_000, 30_000
	s.tools = []tool.Provider{prints(map[string]string{"ten": words(10_000)})}
	s.completed("go")
	if len(s.spilled()) != 1 || s.spilled()["a"].Bytes != 30_000 {
		t.Errorf("%d results are spilled", len(s.spilled()))
	}
}

// The model can read on in the next step, also what a page of many does not show.
func TestC16_TheModelReadsOn(t *testing.T) {
	t.Parallel()
	text := strings.Replace(words(30_000), "ab\n", "the Needle\n", 15_000)
	text = strings.Replace(text, "the Needle\n", "ab\n", 14_999)
	s := newSetup(t, calls("a over {}"))
	readOn := func(arguments string) answerFunc {
		return func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
			id := regexp.MustCompile(`spill-\d+`).FindString(r.Messages[len(r.Messages)-1].Text())
			if id == "" {
				id = regexp.MustCompile(`spill-\d+`).FindString(s.results(1)["a"])
			}
			calls("b read_spill "+strings.Replace(arguments, "ID", id, 1))(ctx, r, yield)
		}
	}
	s.model.answers = append(s.model.answers, readOn(`{"id":"ID","search":"needle"}`), readOn(`{"id":"ID","offset":15000,"limit":1}`), readOn(`{"id":"none"}`), says("done"))
	s.tools = []tool.Provider{prints(map[string]string{"over": text}), spill.New(s.log)}
	s.completed("go")
	for n, want := range map[int]string{
		2: "tool: 15000: the Needle\n(End of result - 1 matches shown, total 30000 lines)",
		3: "tool: 15000: the Needle\n(Showing lines 15000-15000 of 30000. Use offset=15001 to continue.)",
		4: `tool: Error: this session keeps no result under the id "none"; the id stands at the end of the shortened result, like "spill-57"`,
	} {
		if got := s.last(n); got != want {
			t.Errorf("request %d ends %q, want %q", n, got, want)
		}
	}
}

// A cut through the middle of a key must not leave a half of it (M25).
func TestC14_M25_NoHalfOfAKeyIsShown(t *testing.T) {
	t.Parallel()
	const key = "sk-canary-0123456789-abcdefghijklmnopqrstuvwxyz"
	for shift := range len(key) {
		s := newSetup(t, calls("a env {}"), says("done"))
		s.options.Secrets = []string{key}
		s.tools = []tool.Provider{prints(map[string]string{"env": strings.Repeat("x", shift) + strings.Repeat(key, 2000)})}
		s.completed("go")
		for _, e := range s.events() {
			if strings.Contains(string(e.Data), "canary") || strings.Contains(string(e.Data), "tuvwxyz") {
				t.Fatalf("shift %d: event %d (%s) holds a part of the key", shift, e.Seq, e.Kind)
			}
		}
	}
}

func TestT14_HooksSeeABoundedTextAndMayReplaceIt(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("漢", 1_150_000)
	for name, c := range map[string]struct {
		decision hook.OutcomeDecision
		fail     error
		kept     string
	}{
		"watches":  {kept: huge},
		"replaces": {decision: hook.OutcomeDecision{Replace: new(words(20_000))}, kept: words(20_000)},
		"fails":    {fail: errPlugin, kept: huge},
	} {
		s := newSetup(t, calls("a huge {}", "b huge {}"), says("done"))
		s.tools = []tool.Provider{prints(map[string]string{"huge": huge})}
		s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.AfterTool}, after: func(o hook.ToolOutcome) (hook.OutcomeDecision, error) {
			if len(o.Text) > 1<<20+100 || !strings.HasPrefix(huge, o.Text[:500_000]) || !strings.HasSuffix(o.Text, "漢漢") || strings.Contains(o.Text, "\uFFFD") {
				t.Errorf("%s: a hook sees %d bytes: %.40q", name, len(o.Text), o.Text)
			}
			return c.decision, c.fail
		}}}
		reason, _ := s.run("go")
		if (reason == session.ReasonCompleted) != (c.fail == nil) {
			t.Errorf("%s: ended %s", name, reason)
		}
		want := map[bool]int{true: 2, false: 1}[c.fail == nil] // what no hook saw has no result of its own
		if kept := s.spilled(); len(kept) != want || kept["a"].Text != c.kept {
			t.Errorf("%s: %d results are kept, the first of %d bytes", name, len(kept), len(kept["a"].Text))
		}
	}
}

// What tools of all kinds print becomes valid, storable text; nothing is invented.
func TestC14_C081_OddTextSurvivesWhole(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]string{
		"ansi": "\x1b[31mred\x1b[0m\r\n", "nul": "a\x00b", "invalid": "\xff\xfe\xed\xa0\x80a ", "emoji": "👩‍👩‍👧‍👦👍🏽", "marks": "e\u0301\u0327", "separators": "\u2028\u2029\ufeff",
	} {
		text := strings.Repeat(piece, 20_000)
		s := newSetup(t, calls("a odd {}"), says("done"))
		s.tools = []tool.Provider{prints(map[string]string{"odd": text})}
		s.completed("go")
		if kept := s.spilled()["a"]; kept.Text != tool.Clean(text) {
			t.Errorf("%s: %d bytes are kept of %d", name, len(kept.Text), len(tool.Clean(text)))
		}
		if got := s.results(1)["a"]; llm.EstimateText(got) > spill.MaxInline || strings.Count(got, "\uFFFD") > 0 && name != "invalid" {
			t.Errorf("%s: shown is %d tokens: %.60q", name, llm.EstimateText(got), got)
		}
	}
}

// Wherever the log is cut, the session goes on, and a preview that it shows can be
// read whole (R1).
func TestC15_R1_EveryPreviewOfACutLogCanBeRead(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls("a over {}"), calls("b over {}"), says("done"))
	s.tools = []tool.Provider{prints(map[string]string{"over": words(20_000)})}
	s.completed("go")
	all, previews := s.events(), 0
	for n := 1; n <= len(all); n++ {
		if n < len(all) && all[n-1].Kind == session.KindToolSpilled {
			continue // one append: there is no such state
		}
		cut := newSetup(t, says("went on"), says("went on"))
		cut.tools = s.tools
		replay(t, cut.log, all[1:n])
		cut.completed("continue")
		for id, text := range cut.results(0) {
			handle := regexp.MustCompile(`"(spill-\d+)"`).FindStringSubmatch(text)
			if handle == nil {
				continue
			}
			previews++
			r, err := spill.New(cut.log).Call(t.Context(), tool.Call{Room: -1, Arguments: []byte(`{"id":"` + handle[1] + `"}`)}, nil)
			if err != nil || r.IsError || !strings.HasPrefix(r.Text, "1: ab\n2: ab\n") {
				t.Errorf("prefix %d: %s of call %s: %v %.100q", n, handle[1], id, err, r.Text)
			}
		}
	}
	if previews == 0 {
		t.Error("no prefix shows a preview")
	}
}
