package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// post leaves a command as another process would.
func (s *setup) post(c session.Command, text string) {
	s.t.Helper()
	if err := s.store.Post(context.Background(), "s1", session.Mail{Command: c, Text: text, From: "pid 7 on elsewhere"}); err != nil {
		s.t.Error(err)
	}
}

// await returns when the log holds n events of a kind.
func (s *setup) await(k session.Kind, n int) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.count(k) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Errorf("the log has %d events of %s, want %d", s.count(k), k, n)
			return
		}
	}
}

// waitingMail is what no batch has taken yet.
func (s *setup) waitingMail() int {
	s.t.Helper()
	mail, err := s.log.(session.MailLog).Mail(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return len(mail)
}

// queued lists the texts that were queued, in order.
func (s *setup) queued() []string {
	var out []string
	for _, e := range s.events() {
		if p, err := session.Decode[session.InboxItem](e); err == nil && e.Kind == session.KindInboxQueued {
			out = append(out, p.Text)
		}
	}
	return out
}

func TestL4_AnotherProcessPromptsAndSteers(t *testing.T) {
	t.Parallel()
	var s *setup
	s = newSetup(t, func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		s.post(session.CommandPrompt, "next task")
		s.post(session.CommandSteer, "mind the gap")
		s.post(session.CommandSteer, "  ") // nothing to say
		s.await(session.KindWarning, 1)
		calls(`a echo {}`)(ctx, r, yield)
	}, says("first done"), says("second done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.completed("task")
	if got := s.last(1); got != "user: mind the gap" {
		t.Errorf("the second step saw %q", got)
	}
	if got := s.last(2); got != "user: next task" || s.count(session.KindTurnStarted) != 2 {
		t.Errorf("the second turn asked with %q", got)
	}
	if got := s.queued(); !slices.Equal(got, []string{"task", "next task", "mind the gap"}) || s.waitingMail() != 0 {
		t.Errorf("queued %q, %d mails left", got, s.waitingMail())
	}
}

func TestL7_AnotherProcessCancelsAndTheInboxIsKept(t *testing.T) {
	t.Parallel()
	var s *setup
	s = newSetup(t, func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		yield(llm.Chunk{Kind: llm.BlockText, Delta: "Well,"}, nil)
		s.post(session.CommandPrompt, "later")
		s.post(session.CommandCancel, "")
		<-ctx.Done()
		yield(llm.Chunk{}, &llm.Error{Code: llm.CodeAborted, Message: "cancelled"})
	}, says("done later"))
	reason, failure := s.run("go")
	if reason != session.ReasonCancelled || failure != nil || len(s.model.requests) != 1 {
		t.Fatalf("ended %s %+v after %d requests", reason, failure, len(s.model.requests))
	}
	asked := one[session.CancelAsked](s, session.KindCancelAsked)
	if asked.From != "pid 7 on elsewhere" {
		t.Errorf("asked by %q", asked.From)
	}
	s.agent = nil // another process takes the session
	s.completed("")
	if got := s.last(1); got != "user: later" || s.count(session.KindCancelAsked) != 1 {
		t.Errorf("after the cancel the agent was asked with %q", got)
	}
}

// A cancel between two turns leaves what is not begun alone.
func TestL7_ACancelBetweenTurnsClaimsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSetup(t, says("one"), says("two"))
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.TurnEnded}, ended: func(session.TurnEnded) error { cancel(); return nil }}}
	s.open()
	for _, p := range []string{"first", "second"} {
		if err := s.agent.Prompt(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	if reason, _, err := s.agent.Run(ctx); err != nil || reason != session.ReasonCancelled {
		t.Fatalf("ended %s, %v", reason, err)
	}
	s.agent, s.hooks = nil, nil
	s.completed("")
	if got := s.last(1); got != "user: second" {
		t.Errorf("after the cancel the agent was asked with %q", got)
	}
}

func TestC11_AnotherProcessCompactsAtTheNextStepOnce(t *testing.T) {
	t.Parallel()
	var s *setup
	s = newSetup(t, func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		s.post(session.CommandCompact, "keep the numbers")
		s.await(session.KindCompactionAsked, 1)
		calls(`a echo {}`)(ctx, r, yield)
	}, calls(`b echo {}`), says("done"), says("again"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	var asked []string
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		asked = append(asked, string(in.Trigger)+" "+in.Instructions)
		return wipe("short")(ctx, in)
	}})
	s.completed("task")
	s.agent = nil
	s.completed("more")
	if !slices.Equal(asked, []string{"manual keep the numbers"}) {
		t.Errorf("the strategy was asked %q", asked)
	}
	if got := s.shown(1)[1]; got != "user: short" {
		t.Errorf("the step after the request saw %q", got)
	}
}

// A request that finds nothing to do is answered too: it does not come back.
func TestC11_ARequestIsAnsweredOnceWhateverComesOfIt(t *testing.T) {
	t.Parallel()
	for name, st := range map[string]*strategy{
		"nothing to do": {propose: func(context.Context, compaction.Input) (compaction.Proposal, error) {
			return compaction.Proposal{}, nil
		}},
		"failure": {propose: func(context.Context, compaction.Input) (compaction.Proposal, error) {
			return compaction.Proposal{}, errPlugin
		}},
		"no strategy": nil,
	} {
		s := newSetup(t, calls(`a echo {}`), says("done"), says("again"))
		s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
		asked := 0
		if st != nil {
			propose := st.propose
			st.propose = func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
				asked++
				return propose(ctx, in)
			}
			withStrategy(s, st)
		}
		s.open()
		s.post(session.CommandCompact, "")
		s.completed("task")
		s.agent = nil
		s.completed("more")
		if want := 1; st != nil && asked != want || st == nil && asked != 0 {
			t.Errorf("%s: the strategy was asked %d times", name, asked)
		}
		if n := s.count(session.KindCompactionDropped) + s.count(session.KindCompactionFailed); n != 1 {
			t.Errorf("%s: answered %d times: %s", name, n, s.kinds())
		}
	}
}

func TestC11_AnIdleSessionIsCompactedWithoutATurn(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.completed("task")
	s.post(session.CommandCompact, "")
	if reason, _ := s.run(""); reason != "" || s.count(session.KindCompactionEnded) != 1 || s.count(session.KindTurnStarted) != 1 {
		t.Errorf("ended %q; the log is %s", reason, s.kinds())
	}
}

// What comes while a run is ending belongs to it (L16).
func TestL16_RunHearsWhatCameAtTheVeryEnd(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"), says("three"))
	idle := 0
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.Idle}, idle: func() (d hook.IdleDecision, err error) {
		switch idle++; idle {
		case 1:
			s.post(session.CommandPrompt, "by mail")
		case 2:
			err = s.agent.Prompt(context.Background(), "by a hook")
		}
		return d, err
	}}}
	s.completed("task")
	if got := []string{s.last(0), s.last(1), s.last(2)}; !slices.Equal(got, []string{"user: task", "user: by mail", "user: by a hook"}) {
		t.Errorf("the turns were asked with %q", got)
	}
	if idle != 3 {
		t.Errorf("idle %d times", idle)
	}
}

// An append beside the mail's own must not part it from what it comes to.
func TestMailIsExecutedOnceBesideOtherWriters(t *testing.T) {
	t.Parallel()
	const n = 300
	var s *setup
	s = newSetup(t, func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		var posts, writers sync.WaitGroup
		posts.Go(func() {
			for i := range n {
				s.post(session.CommandSteer, fmt.Sprintf("m%d", i))
			}
		})
		stop := make(chan struct{})
		for range 8 {
			writers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if err := s.agent.Access("p").PutRecord(ctx, "k", "", []byte(`1`)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		posts.Wait()
		s.await(session.KindInboxQueued, 1+n)
		close(stop)
		writers.Wait()
		says("done")(ctx, r, yield)
	}, says("done"))
	s.completed("task")
	seen := map[string]int{}
	for _, text := range s.queued() {
		seen[text]++
	}
	for i := range n {
		if c := seen[fmt.Sprintf("m%d", i)]; c != 1 {
			t.Errorf("mail %d was executed %d times", i, c)
		}
	}
}

// dying is a log whose owner dies at the append that takes mail: with what it
// stored, or without.
type dying struct {
	session.MailLog
	stored bool
}

var errDied = errors.New("power cut")

func (d *dying) Append(ctx context.Context, b session.Batch) (int64, error) {
	if len(b.Taken) == 0 {
		return d.MailLog.Append(ctx, b)
	}
	if d.stored {
		if _, err := d.MailLog.Append(ctx, b); err != nil {
			return 0, err
		}
	}
	return 0, errDied
}

func TestR1_MailIsExecutedOnceAcrossACrash(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{false, true} {
		s := newSetup(t, says("done"))
		s.options.Log = &dying{s.log.(session.MailLog), stored}
		s.post(session.CommandPrompt, "by mail")
		s.open()
		if _, _, err := s.agent.Run(t.Context()); !errors.Is(err, errDied) {
			t.Fatalf("stored %v: the run ended with %v", stored, err)
		}
		s.options.Log, s.agent = s.log, nil
		s.completed("")
		if got := strings.Join(s.queued(), "|"); got != "by mail" || s.last(0) != "user: by mail" {
			t.Errorf("stored %v: queued %q", stored, got)
		}
	}
}

// An answer of another process goes to who waits for it; once nobody does it becomes
// a message; what nobody asked, or asked already, is a warning.
func TestT18_AnotherProcessAnswers(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a ask {}`), calls(`b ask {}`), says("going on"), says("thank you"))
	var got []session.Answer
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "ask"}, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		timeout := time.Duration(0)
		if c.ID == "b" {
			timeout = time.Millisecond
		}
		answer, err := s.agent.Access("p").Ask(ctx, session.Question{Text: c.ID + "?", CallID: c.ID}, timeout)
		got = append(got, answer)
		return tool.Result{Text: answer.Text}, err
	})}
	s.options.Asker = person(func(ctx context.Context, q session.Question) session.Answer {
		if q.CallID == "a" {
			s.post(session.CommandAnswer, fmt.Sprintf(`{"id":%q,"choices":["red"],"text":"dark"}`, q.ID))
			s.post(session.CommandAnswer, fmt.Sprintf(`{"id":%q,"text":"too late"}`, q.ID))
		}
		<-ctx.Done()
		return session.Answer{Outcome: session.OutcomeAnswered, Text: "from nowhere"}
	})
	s.completed("go")
	if len(got) != 2 || !got[0].Chose("red") || got[0].Text != "dark" || got[0].Late || got[1].Outcome != session.OutcomePending {
		t.Fatalf("who asked got %+v", got)
	}
	s.post(session.CommandAnswer, fmt.Sprintf(`{"id":%q,"outcome":"declined"}`, got[1].ID))
	s.post(session.CommandAnswer, `{"id":"q1","text":"nobody asked"}`)
	s.post(session.CommandAnswer, `no JSON`)
	s.completed("")
	if late := s.last(3); !strings.Contains(late, "b?") || !strings.Contains(late, "no permission") {
		t.Errorf("the late answer came as %q", late)
	}
	// Two answers and one that was pending; the second to a, that to q1 and no JSON.
	if s.count(session.KindQuestionAnswered) != 3 || s.count(session.KindWarning) != 3 || s.waitingMail() != 0 || len(s.agent.Questions()) != 0 {
		t.Errorf("log: %s; %d mails left", s.kinds(), s.waitingMail())
	}
	s.check()
}
