package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Retry is the step's retry policy (M18). The zero value retries nothing.
type Retry struct {
	Max           int           // attempts after the first, per step
	Initial       time.Duration // 0 = 500 ms
	MaxDelay      time.Duration // 0 = 10 s
	MaxRetryAfter time.Duration // a longer Retry-After gives up; 0 = 10 s
}

// wait returns how long to wait before attempt n (from 1), and whether to try at
// all. jitter is in [0,1).
func (r Retry) wait(n int, e *llm.Error, jitter float64) (time.Duration, bool) {
	if n > r.Max || !e.Retryable() {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, e.RetryAfter <= orDefault(r.MaxRetryAfter, 10*time.Second)
	}
	ceiling := orDefault(r.MaxDelay, 10*time.Second)
	delay := orDefault(r.Initial, 500*time.Millisecond)
	for range n - 1 {
		delay = min(2*delay, ceiling)
	}
	return min(time.Duration(float64(delay)*(0.9+0.2*jitter)), ceiling), true
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return d
}

// ask sends the step's request until it is answered: one retry layer, and one
// compaction where the endpoint says, or its count shows, that the context is too
// long (L10, C10).
func (a *Agent) ask(ctx context.Context) (answer *llm.Answer, attempt int, took time.Duration, err error) {
	retries, recovered := 0, recovery{}
	for ; ; attempt++ {
		if err := a.rec.flush(ctx); err != nil { // also what an overflow made (L17)
			return nil, attempt, 0, err
		}
		request := a.request()
		began := a.Now()
		answer, partial, err := a.stream(ctx, request)
		if err == nil {
			took := a.Now().Sub(began)
			if again, cerr := a.overran(ctx, answer, attempt, &recovered); cerr != nil || !again {
				return answer, attempt, took, cerr
			}
			continue
		}
		if ctx.Err() != nil {
			return nil, attempt, 0, errors.Join(a.keepPartial(ctx, partial, attempt), context.Cause(ctx))
		}
		if llm.CodeOf(err) == llm.CodeOverflow && !recovered.compacted {
			if err := a.attempted(ctx, err, partial, attempt, 0); err != nil {
				return nil, attempt, 0, err
			}
			again, cerr := a.overflowed(ctx, err, request, &recovered)
			if cerr != nil {
				return nil, attempt, 0, cerr
			}
			if again {
				continue
			}
			return nil, attempt, 0, err
		}
		retries++
		if err := a.again(ctx, err, partial, attempt, retries); err != nil {
			return nil, attempt, 0, err
		}
	}
}

// again books a failed attempt and waits for the next one; it returns the
// failure where there is none.
func (a *Agent) again(ctx context.Context, err error, partial *llm.Message, attempt, retries int) error {
	var failure *llm.Error
	if !errors.As(err, &failure) {
		failure = &llm.Error{Code: llm.CodeTransport, Message: err.Error(), Err: err}
	}
	wait, retry := a.Retry.wait(retries, failure, rand.Float64())
	if !retry && a.Hooks.Declared(hook.RequestFailed) {
		var herr error
		if retry, herr = a.Hooks.RequestFailed(ctx, a.where(), *failureOf(err), attempt); herr != nil {
			return herr
		}
		wait = 0
	}
	if !retry {
		wait = 0
	}
	if cerr := a.attempted(ctx, err, partial, attempt, wait); cerr != nil {
		return cerr
	}
	if !retry {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
		return nil
	}
}

// attempted stores an attempt that came to nothing; the model never sees it (M16).
func (a *Agent) attempted(ctx context.Context, err error, partial *llm.Message, attempt int, wait time.Duration) error {
	f, counted := failureOf(err), 0
	if refused := (*llm.Error)(nil); errors.As(err, &refused) && refused.Code == llm.CodeOverflow {
		counted = refused.Requested
	}
	at := a.where()
	return a.rec.commit(ctx, session.New(session.KindAttempt, session.Attempt{
		Code: f.Code, Message: f.Message, Attempt: attempt, Partial: partial, RetryAfter: wait.Milliseconds(), Purpose: a.purpose(), Counted: counted,
	}).At(at.Turn, at.Step))
}

// keepPartial stores what an answer that was cut off by a cancel or by the time
// limit had said, without its calls (L7).
func (a *Agent) keepPartial(ctx context.Context, partial *llm.Message, attempt int) error {
	at := a.where()
	if partial == nil {
		return a.rec.commit(ctx, session.New(session.KindAttempt, session.Attempt{
			Code: string(llm.CodeAborted), Message: "ended before anything was said", Attempt: attempt, Purpose: a.purpose()}).At(at.Turn, at.Step))
	}
	partial.Interrupted = true
	return a.rec.commit(ctx, session.New(session.KindMessageAssistant, session.Assistant{Message: partial, Attempt: attempt, Purpose: a.purpose()}).
		At(at.Turn, at.Step).On(session.Op{Kind: session.OpAppend}))
}

// request is the surface as a model request: a pure view of the log.
func (a *Agent) request() llm.Request {
	r := llm.Request{Model: a.Info.Name, Purpose: llm.PurposeMain, Effort: a.Effort, Params: a.Params, MaxOutputTokens: a.Info.MaxOutputTokens}
	a.rec.view(func(s *fold.State) {
		r.Messages = s.Surface.Messages(0)
		if s.Header != nil {
			r.Tools = s.Header.Tools
		}
		if s.LastWords() {
			r.Purpose = llm.PurposeNotes
		}
		sent, _ := s.Measure()
		r.MaxOutputTokens = a.outputCap(r.MaxOutputTokens, sent)
	})
	return r
}

// stream sends one request and collects the answer. Where it fails, partial is
// the text and reasoning that had arrived, nil where there was none.
func (a *Agent) stream(ctx context.Context, r llm.Request) (*llm.Answer, *llm.Message, error) {
	var text, reasoning strings.Builder
	shown := r.Purpose == llm.PurposeMain || r.Purpose == a.purpose() // a summary is no answer
	for chunk, err := range a.Model.Stream(ctx, r) {
		if err != nil {
			return nil, partialMessage(text.String(), reasoning.String()), err
		}
		if chunk.Answer != nil {
			cleanMessage(chunk.Answer.Message)
			return chunk.Answer, nil, nil
		}
		switch chunk.Kind {
		case llm.BlockText:
			text.WriteString(chunk.Delta)
		case llm.BlockReasoning:
			reasoning.WriteString(chunk.Delta)
		}
		if a.Observer != nil && shown {
			a.Observer.Delta(chunk.Kind, chunk.Delta)
		}
	}
	return nil, partialMessage(text.String(), reasoning.String()), &llm.Error{Code: llm.CodeStreamClosed, Message: "the stream ended without an answer"}
}
