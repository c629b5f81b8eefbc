package agent

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// leastWindow is the smallest context window that an endpoint is believed to have.
const leastWindow = 1024

// sourceLearned is a Budget's Source where an endpoint named a smaller window.
const sourceLearned = "learned"

// budget is the line in force: the profile's, or that of a window which the endpoint
// named.
func (a *Agent) budget() compaction.Budget { return *a.line.Load() }

// recall puts the window in force that the endpoint named in an earlier step, where
// model and window of the profile are still the same and the person named none.
func (a *Agent) recall() {
	a.line.Store(&a.Budget)
	var known *session.WindowLearned
	a.rec.view(func(s *fold.State) {
		h, same := s.Header, a.Opened.Window == 0 && s.Learned != nil && s.Learned.Model == a.Info.Name
		if same && (h == nil || h.ContextWindow == a.Info.ContextWindow && h.Provider == a.Info.Provider) && a.holds(s, s.Learned.Window) {
			known = s.Learned
		}
	})
	if known == nil || a.Budget.Window > 0 && known.Window >= a.Budget.Window {
		return
	}
	if b, _, err := a.resolve(known.Window); err == nil {
		a.line.Store(&b)
	}
}

// holds tells whether a window has room for what no compaction removes, and an answer.
func (a *Agent) holds(s *fold.State, window int) bool {
	return s.Fixed()+min(a.Info.MaxOutputTokens, leastAnswer) <= window
}

// unlearn takes a learned window back where the endpoint has answered a longer prompt.
func (a *Agent) unlearn(prompt int) {
	if b := a.budget(); b.Source != sourceLearned || prompt <= b.Window {
		return
	}
	a.line.Store(&a.Budget)
	a.unopened = a.Strategy.Strategy != nil
}

// codeDistrusted warns of a window that an endpoint names and that cannot be.
const codeDistrusted = "WINDOW_DISTRUSTED"

// distrust says why a window that an endpoint names is not believed, "" where it is: it
// answered a longer prompt before, or nothing at all could be sent.
func (a *Agent) distrust(window int) (why string) {
	a.rec.view(func(s *fold.State) {
		switch {
		case s.Accepted > window:
			why = fmt.Sprintf("it answered a prompt of %d tokens in this session", s.Accepted)
		case !a.holds(s, window):
			why = fmt.Sprintf("about %d tokens of system prompt and tool declarations and an answer do not fit it, so nothing could be sent", s.Fixed())
		}
	})
	return why
}

// learn remembers the context window that an endpoint names in a refusal, where it is
// smaller than the one in force and can be, and draws the line anew. The strategy is
// opened again before it is asked.
func (a *Agent) learn(ctx context.Context, failure *llm.Error) error {
	before := a.budget().Window
	if failure.Window < leastWindow || before > 0 && failure.Window >= before {
		return nil
	}
	at := a.where()
	if why := a.distrust(failure.Window); why != "" {
		return a.rec.commit(ctx, session.New(session.KindWarning, session.Warning{Code: codeDistrusted,
			Message: fmt.Sprintf("the endpoint refused a request and names a context window of %d tokens for model %q; that is not taken for it: %s. It said: %s", failure.Window, a.Info.Name, why, failure.Message),
			Hint:    "where it is the true window set context_window under [model], with fewer tools or a shorter prompt"}).At(at.Turn, at.Step))
	}
	b, unfit, err := a.resolve(failure.Window)
	if err != nil {
		a.Logger.Warn("no line fits the window that the endpoint names", "window", failure.Window, "error", err)
		return nil
	}
	a.line.Store(&b)
	a.unopened = a.Strategy.Strategy != nil
	learned := session.WindowLearned{Model: a.Info.Name, Window: b.Window, Before: before, Why: failure.Message}
	return a.rec.commit(ctx, session.New(session.KindWindowLearned, learned).At(at.Turn, at.Step),
		session.New(session.KindWarning, a.learnedWarning(learned, b, unfit)).At(at.Turn, at.Step))
}

func (a *Agent) learnedWarning(l session.WindowLearned, b compaction.Budget, unfit error) session.Warning {
	was := "it was not known"
	if l.Before > 0 {
		was = fmt.Sprintf("%d were taken for it", l.Before)
	}
	text := fmt.Sprintf("the endpoint refused a request and names a context window of %d tokens for model %q; %s. %d hold for this session, with the line at %d. It said: %s",
		l.Window, l.Model, was, l.Window, b.ResetAt, l.Why)
	if unfit != nil {
		text += fmt.Sprintf(". The budget keys of the profile do not fit that window, so the automatic ones hold (%v)", unfit)
	}
	hint := fmt.Sprintf("set context_window = %d under [model]", l.Window)
	if a.Opened.Profile != "" {
		hint += " in profile " + a.Opened.Profile
	}
	return session.Warning{Code: "WINDOW_LEARNED", Message: text, Hint: hint + fmt.Sprintf(", or start with -c model.context_window=%d; the number of a -c at a resume holds instead of what was learned", l.Window)}
}

// resolve draws the line of another window: by the profile's keys, and where these do
// not fit it by the automatic ones; unfit says why.
func (a *Agent) resolve(window int) (b compaction.Budget, unfit, err error) {
	if a.Resolve != nil {
		if b, unfit = a.Resolve(window); unfit == nil {
			b.Source = sourceLearned
			return b, nil, nil
		}
	}
	for _, output := range []int{a.Info.MaxOutputTokens, min(a.Info.MaxOutputTokens, window/4)} {
		if b, err = compaction.Resolve(compaction.BudgetConfig{}, window, output, sourceLearned); err == nil {
			break
		}
	}
	return b, unfit, err
}

// Bounds of a lowered output cap, in tokens.
const (
	answerMargin = 256  // for what the measure may be wrong by
	leastAnswer  = 1024 // no cap is lowered below it
)

// outputCap lowers an output cap so that the answer still fits the window behind what
// is sent.
func (a *Agent) outputCap(most, sent int) int {
	window := a.budget().Window
	if window <= 0 || sent+most <= window {
		return most
	}
	return min(most, max(leastAnswer, window-sent-answerMargin))
}

// codeCutsPrompt warns of an endpoint that cuts what it is sent and says nothing.
const codeCutsPrompt = "SERVER_CUTS_PROMPT"

// warnCut says once that the endpoint's counts of the prompt are not to be trusted.
func (a *Agent) warnCut(before bool) error {
	cuts, prompt := false, fold.Anchor{}
	a.rec.view(func(s *fold.State) { cuts, prompt = s.CutsPrompt, s.Prompt })
	if before || !cuts {
		return nil
	}
	at := a.where()
	return a.rec.stage(session.New(session.KindWarning, session.Warning{Code: codeCutsPrompt,
		Message: fmt.Sprintf("the endpoint counts no more than %d tokens of input however much is sent: it seems to cut the prompt silently. Its counts are not used any more in this session, which estimates instead", prompt.Tokens),
		Hint:    fmt.Sprintf("raise the context size that the server runs with, or set context_window = %d under [model]", prompt.Tokens)}).At(at.Turn, at.Step))
}

func (a *Agent) cutsPrompt() (cuts bool) {
	a.rec.view(func(s *fold.State) { cuts = s.CutsPrompt })
	return cuts
}
