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
// model and window of the profile are still the same.
func (a *Agent) recall() {
	a.line.Store(&a.Budget)
	var known *session.WindowLearned
	a.rec.view(func(s *fold.State) {
		if h := s.Header; s.Learned != nil && s.Learned.Model == a.Info.Name && (h == nil || h.ContextWindow == a.Info.ContextWindow) {
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

// learn remembers the context window that an endpoint names in a refusal, where it is
// smaller than the one in force, and draws the line anew. The strategy is opened again
// before it is asked.
func (a *Agent) learn(ctx context.Context, failure *llm.Error) error {
	before := a.budget().Window
	if failure.Window < leastWindow || before > 0 && failure.Window >= before {
		return nil
	}
	b, unfit, err := a.resolve(failure.Window)
	if err != nil {
		a.Logger.Warn("no line fits the window that the endpoint names", "window", failure.Window, "error", err)
		return nil
	}
	a.line.Store(&b)
	a.unopened = a.Strategy.Strategy != nil
	at := a.where()
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
	return session.Warning{Code: "WINDOW_LEARNED", Message: text, Hint: hint + fmt.Sprintf(", or start with -c model.context_window=%d", l.Window)}
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
