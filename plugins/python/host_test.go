package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// lent is a plugin that is running and has a session open.
func lent(t *testing.T, dir, config, name string) (*pluginhost.Instance, *compactiontest.Session) {
	t.Helper()
	h := newHouse(t, pluginhost.Options{})
	i := h.start(dir, config)
	s := compactiontest.New(t, name, "You count boats.")
	s.Budget = compaction.Budget{Window: 32000, ResetAt: 24000, MaxOutputTokens: 2000, Reserve: 8000, Warning: 900, Reminder: 1800, Source: "profile"}
	h.lend("s1", s)
	if err := i.OpenSession(t.Context(), s.Opened()); err != nil {
		t.Fatal(err)
	}
	return i, s
}

func TestG1_TheHostsServicesAreReached(t *testing.T) {
	t.Parallel()
	i, s := lent(t, lab, "", "lab")
	s.Turn()
	s.User(session.SourceOwner, "count them")
	s.Exchange("c1", "read", `{"n":1}`, "seven boats")
	var prefix []string
	s.Model = func(_ context.Context, messages []*llm.Message, g session.Generate) (session.Generated, error) {
		for _, m := range messages {
			prefix = append(prefix, m.Text())
		}
		if len(g.Edits) != 1 || g.Edits[0].Replace == nil || g.Purpose != "notes" {
			return session.Generated{}, fmt.Errorf("it asks for %+v", g)
		}
		return session.Generated{Message: llm.Text(llm.RoleAssistant, "boats, mostly"), Stop: llm.StopEnd,
			Usage: llm.Usage{Input: 3, CacheRead: 4, Output: 2}}, nil
	}
	for what, want := range map[string]string{
		"events":   `["4 message.user 10", "5 message.assistant 0", "7 tool.result 11"]`,
		"reverse":  `[7, 6, 5]`,
		"outline":  `[7, 4, 7]`,
		"generate": `{"text": "boats, mostly", "stop": "stop", "input": 7, "output": 2}`,
	} {
		if got := must(t, i, "ask", object{"what": what}); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	if len(prefix) == 0 || prefix[len(prefix)-1] != "Sum it up." {
		t.Errorf("the model saw %q", prefix)
	}
	var meter struct {
		Window, Ordinal int
		ResetAt         int `json:"reset_at"`
	}
	if err := json.Unmarshal([]byte(must(t, i, "ask", object{"what": "meter"})), &meter); err != nil || meter.Window != 32000 || meter.ResetAt != 24000 || meter.Ordinal != 1 {
		t.Errorf("meter %+v, %v", meter, err)
	}
	if got := must(t, i, "ask", object{"what": "records"}); got != `[{"kind": "colour", "data": {"is": ["blue"]}, "key": "door"}]` {
		t.Errorf("records: %s", got)
	}
	must(t, i, "ask", object{"what": "steer"})
	queued := 0
	for e, err := range s.Events(t.Context(), session.Query{Kinds: []session.Kind{session.KindInboxQueued}}) {
		item, err2 := session.Decode[session.InboxItem](e)
		if errors.Join(err, err2) != nil || item.Text != "mind the gap" || item.Key != "gap" {
			t.Errorf("queued: %+v, %v, %v", item, err, err2)
		}
		queued++
	}
	if queued != 1 {
		t.Errorf("%d messages were queued", queued)
	}
}

// What the host refuses has a code that an author can branch on.
func TestSEC_TheHostsRefusalsAreErrors(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	s := spec(t, lab, "")
	s.Deny = []sdk.Capability{sdk.CapSessionSteer}
	instances, err := h.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	h.lend("s1", compactiontest.New(t, "lab", "x"))
	for what, code := range map[string]string{"steer": "PERMISSION_DENIED", "elsewhere": "NOT_FOUND"} {
		_, err := call(t.Context(), instances[0], "ask", object{"what": what}, nil)
		var own *sdk.Error
		if !errors.As(err, &own) || own.Code != code {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Events come page by page, and one that is over a page in parts.
func TestG1_LongLogsAndBigEventsAreRead(t *testing.T) {
	t.Parallel()
	i, s := lent(t, lab, "", "lab")
	const exchanges = 60
	for n := range exchanges {
		s.Exchange(fmt.Sprint("c", n), "read", "{}", strings.Repeat("é", 20_000))
	}
	big := s.Exchange("big", "read", "{}", strings.Repeat("ü", 3<<20))
	var found []string
	if err := json.Unmarshal([]byte(must(t, i, "ask", object{"what": "events"})), &found); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d tool.result %d", big, 3<<20); len(found) != 2*exchanges+2 || found[len(found)-1] != want {
		t.Errorf("%d events, the last is %q, want %q", len(found), found[len(found)-1], want)
	}
}

func TestG1_AStrategyOpensAndProposes(t *testing.T) {
	t.Parallel()
	i, s := lent(t, lab, "", "lab")
	opening, err := i.Strategy().Open(t.Context(), s.Opened())
	if err != nil || len(opening.Sections) != 1 || opening.Sections[0].Text != "The lab is open: {{room}}." || opening.Sections[0].Order != 5 ||
		len(opening.Records) != 1 || string(opening.Records[0].Data) != `{"by": "lab"}` || len(opening.Marks) != 1 || opening.Marks[0].Remaining != 900 {
		t.Errorf("it opens with %+v, %v", opening, err)
	}
	s.User(session.SourceOwner, "count them")
	s.Exchange("c1", "read", "{}", strings.Repeat("a boat\n", 100))
	said := ""
	in := s.Input(session.TriggerPressure)
	in.Progress = func(text string) { said += text }
	p, err := i.Strategy().Propose(t.Context(), in)
	if err != nil || p.Kind != compaction.KindTrim || len(p.Edits) != 1 || p.Edits[0].Trim == nil || p.Edits[0].Trim.Head != 10 || p.Edits[0].Trim.Tail != 5 ||
		!p.Refresh || len(p.Sections) != 1 || len(p.Marks) != 0 || len(p.Records) != 1 || len(p.Steer) != 1 || p.Revision != in.Revision || said != "thinking" {
		t.Errorf("it proposes %+v, says %q, %v", p, said, err)
	}
	in = s.Input(session.TriggerManual)
	in.Instructions, in.Note, in.MayPostpone = "tell", "n", true
	p, err = i.Strategy().Propose(t.Context(), in)
	want := fmt.Sprintf(`{"revision": %d, "trigger": "manual", "attempt": 1, "measured": %d, "source": "estimate", "turn_open": false, "may_postpone": true, `+
		`"instructions": "tell", "note": "n", "seed": 7, "time": %d.0, "nodes": 4, "last": %d}`, in.Revision, in.Measured, in.Time.Unix(), in.Revision)
	if err != nil || p.Boot != want || p.Kind != compaction.KindSummary || len(p.Edits) != 1 || p.Edits[0].Drop == nil {
		t.Errorf("it was asked %s, want %s; %+v, %v", p.Boot, want, p, err)
	}
	in.Instructions = "fail"
	var own *sdk.Error
	if _, err := i.Strategy().Propose(t.Context(), in); !errors.As(err, &own) || own.Code != "LOST" || own.Message != "no idea; ask again" {
		t.Errorf("it fails with %v", err)
	}
	in.Instructions = "die"
	if _, err := i.Strategy().Propose(t.Context(), in); !errors.Is(err, sdk.ErrExited) {
		t.Errorf("it dies with %v", err)
	}
}

// A surface of 5 MiB of nodes comes in pages of one revision.
func TestG1_AnOutlineOfFiveMiBArrivesWhole(t *testing.T) {
	t.Parallel()
	i, s := lent(t, lab, "", "lab")
	s.User(session.SourceOwner, "count them")
	const answers = 5
	calls := make([]llm.ToolCall, 0, 8000)
	for n := range answers {
		calls = calls[:0]
		for k := range cap(calls) {
			calls = append(calls, llm.ToolCall{ID: fmt.Sprintf("call_%d_%d_%s", n, k, strings.Repeat("x", 100)), Name: "read", Arguments: "{}"})
		}
		s.Assistant("", calls...)
	}
	last := s.User(session.SourceOwner, "well?")
	in := s.Input(session.TriggerManual)
	in.Instructions = "tell"
	p, err := i.Strategy().Propose(t.Context(), in)
	if want := fmt.Sprintf(`"nodes": %d, "last": %d}`, answers+3, last); err != nil || !strings.HasSuffix(p.Boot, want) {
		t.Errorf("it saw %s, want %s; %v", p.Boot, want, err)
	}
}
