package ask_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/ask"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// person answers what a plugin asks.
type person struct {
	session.Refusing
	answer func(q session.Question) session.Answer

	mu     sync.Mutex
	asked  []session.Question
	waited []time.Duration
}

func (p *person) Ask(_ context.Context, q session.Question, timeout time.Duration) (session.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked, p.waited = append(p.asked, q), append(p.waited, timeout)
	a := p.answer(q)
	a.ID = fmt.Sprintf("q%d", len(p.asked))
	return a, nil
}

func says(answers ...session.Answer) *person {
	p := &person{}
	p.answer = func(session.Question) session.Answer { return answers[len(p.asked)-1] }
	return p
}

// desk is the plugin over the wire with one session of a person's and one of a
// subagent's.
type desk struct {
	t      *testing.T
	plugin *plugintest.Plugin
	tools  *tool.Registry
}

func sit(t *testing.T, config string, p *person, deny ...sdk.Capability) *desk {
	t.Helper()
	d := &desk{t: t}
	d.plugin = plugintest.Run(t, ask.Plugin("1.0.0"), plugintest.Host{Config: json.RawMessage(config), Deny: deny, Sessions: []compaction.Session{
		{ID: "own", Workspace: "/w", Access: p}, {ID: "sub", Workspace: "/w", Parent: "own", Depth: 1, Access: p},
	}})
	var err error
	if d.tools, err = tool.NewRegistry(t.Context(), "own", []tool.Provider{d.plugin.Tools()}); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) call(id, arguments string) tool.Result {
	d.t.Helper()
	if bad, refused := d.tools.Validate("ask_user", json.RawMessage(arguments)); refused {
		return bad
	}
	r, err := d.plugin.Tools().Call(d.t.Context(), tool.Call{Session: id, ID: "call1", Name: "ask_user", Arguments: json.RawMessage(arguments), Room: -1}, func(string) {})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// got is what the model reads.
type got struct {
	Answers []struct {
		ID, Question string
		Outcome      session.Outcome
		Choices      []string
		Text         string
	}
	Notes []string
}

func (d *desk) answers(id, arguments string) got {
	d.t.Helper()
	r := d.call(id, arguments)
	var g got
	if err := json.Unmarshal([]byte(r.Text), &g); err != nil || r.IsError {
		d.t.Fatalf("%v: %+v", err, r)
	}
	return g
}

const two = `{"questions":[{"question":"Which port?","options":[{"label":"80","description":"as before"},{"label":"443"}],"multiple":true},{"question":"Whose name?"}]}`

func TestT18_EachQuestionIsPutAndAnswered(t *testing.T) {
	t.Parallel()
	p := says(session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{"443", "80"}}, session.Answer{Outcome: session.OutcomeAnswered, Text: "<Ada>"})
	g := sit(t, `{}`, p).answers("own", two)
	if len(g.Answers) != 2 || strings.Join(g.Answers[0].Choices, ",") != "443,80" || g.Answers[0].Question != "Which port?" ||
		g.Answers[1].Text != "<Ada>" || g.Answers[1].Outcome != "answered" || g.Notes != nil {
		t.Errorf("the model reads %+v", g)
	}
	q := p.asked[0]
	if len(p.asked) != 2 || q.Text != "Which port?" || q.CallID != "call1" || !q.Multiple || len(q.Options) != 2 ||
		q.Options[0] != (session.Option{Label: "80", Description: "as before"}) || p.waited[0] != 0 || p.waited[1] != 0 {
		t.Errorf("the person was asked %+v for %v", p.asked, p.waited)
	}
}

func TestT18_ATimedQuestionIsPendingAndNoPermission(t *testing.T) {
	t.Parallel()
	pending := session.Answer{Outcome: session.OutcomePending}
	for config, arguments := range map[string]string{
		`{"mode":"timed","timeout":"90s"}`: two,
		`{"timeout":"90s"}`:                strings.TrimSuffix(two, "}") + `,"timed":true}`,
	} {
		p := says(pending, pending)
		g := sit(t, config, p).answers("own", arguments)
		if len(g.Answers) != 2 || g.Answers[0].ID != "q1" || g.Answers[1].ID != "q2" || g.Answers[0].Outcome != "pending" || len(g.Notes) != 1 ||
			!strings.Contains(g.Notes[0], "neither a no nor a permission") || !strings.Contains(g.Notes[0], "a message with the question's id") {
			t.Errorf("%s: the model reads %+v", config, g)
		}
		// The second is put all the same, so that it can be answered later.
		if p.waited[0] != 90*time.Second || p.waited[1] <= 0 || p.waited[1] > time.Second {
			t.Errorf("%s: waited %v", config, p.waited)
		}
	}
	d := sit(t, `{"mode":"timed"}`, says(pending))
	if r := d.call("own", `{"questions":[{"question":"a?"}],"timed":false}`); r.Code != "INVALID_ARGUMENTS" {
		t.Errorf("the model can make a timed profile wait: %+v", r)
	}
}

func TestT18_ADeclinedQuestionIsSaidToBe(t *testing.T) {
	t.Parallel()
	p := says(session.Answer{Outcome: session.OutcomeDeclined}, session.Answer{Outcome: session.OutcomeAnswered, Text: "mine"})
	g := sit(t, `{}`, p).answers("own", two)
	if g.Answers[0].Outcome != "declined" || g.Answers[1].Text != "mine" || len(g.Notes) != 1 || !strings.Contains(g.Notes[0], "not a permission") {
		t.Errorf("the model reads %+v", g)
	}
}

func TestT18_WhereNobodyCanBeAskedTheModelDecides(t *testing.T) {
	t.Parallel()
	p := says(session.Answer{Outcome: session.OutcomeUnavailable})
	if r := sit(t, `{}`, p).call("own", two); !r.IsError || r.Code != "NO_PERSON" || !strings.HasPrefix(r.Text, "Error: nobody can be asked in this run") || len(p.asked) != 1 {
		t.Errorf("got %+v after %d questions", r, len(p.asked))
	}
	p = says()
	if r := sit(t, `{}`, p).call("sub", two); !r.IsError || !strings.Contains(r.Text, "into your last answer") || len(p.asked) != 0 {
		t.Errorf("a subagent got %+v after %d questions", r, len(p.asked))
	}
	if r := sit(t, `{}`, p, sdk.CapUserAsk).call("own", two); !r.IsError || r.Code != "NO_PERSON" || len(p.asked) != 0 {
		t.Errorf("without the capability: %+v", r)
	}
	if r := sit(t, `{}`, p).call("other", two); !r.IsError || r.Code != "SESSION_UNKNOWN" {
		t.Errorf("a session that is not open: %+v", r)
	}
}

func TestT18_BadQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	p := says()
	d := sit(t, `{}`, p)
	option := func(labels ...string) string {
		var o []string
		for _, l := range labels {
			o = append(o, fmt.Sprintf(`{"label":%q}`, l))
		}
		return `{"questions":[{"question":"a?","options":[` + strings.Join(o, ",") + `]}]}`
	}
	for _, arguments := range []string{
		`{}`, `{"questions":[]}`, `{"questions":[{"question":""}]}`, `{"questions":[{"question":" \n"}]}`, `{"questions":["a?"]}`,
		`{"questions":[{"question":"a?"},{"question":"a?"},{"question":"a?"},{"question":"a?"},{"question":"a?"}]}`,
		`{"questions":[{"question":"` + strings.Repeat("x", 2001) + `"}]}`,
		option("1", "2", "3", "4", "5", "6", "7"), option("same", "same"), option("same", " same"), option(""), option(strings.Repeat("x", 121)),
	} {
		if r := d.call("own", arguments); !r.IsError {
			t.Errorf("%.60s was taken", arguments)
		}
	}
	if len(p.asked) != 0 {
		t.Errorf("the person was asked %+v", p.asked)
	}
}

func TestT18_TheToolStandsAlone(t *testing.T) {
	t.Parallel()
	spec := sit(t, `{}`, says()).tools.Specs()[0]
	if spec.Parallel || spec.Timeout < 24*time.Hour || !strings.Contains(string(spec.Schema), `"timed"`) {
		t.Errorf("%+v", spec)
	}
	if spec := sit(t, `{"mode":"timed","timeout":"45s"}`, says()).tools.Specs()[0]; !strings.Contains(spec.Description, "45s") || strings.Contains(string(spec.Schema), `"timed"`) {
		t.Errorf("timed: %+v", spec)
	}
	for _, config := range []string{`{"timeout":"soon"}`, `{"timeout":"10ms"}`, `{"timeout":"25h"}`, `{"timeout":5}`} {
		if _, err := ask.ParseConfig(json.RawMessage(config)); err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: %v", config, err)
		}
	}
}
