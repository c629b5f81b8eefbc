package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// Asker puts a question to the person. Ask returns the answer, or, when ctx ends,
// whatever: it is not looked at then. Answer.ID need not be set. It may be called
// from several goroutines.
type Asker interface {
	Ask(ctx context.Context, q session.Question) session.Answer
}

// questions are those that somebody waits for.
type questions struct {
	mu      sync.Mutex
	waiting map[string]*waiting
}

// waiting is one of them: where an answer goes, and the one that came from outside,
// which is in the log already.
type waiting struct {
	answers chan session.Answer
	given   *session.Answer
}

// question stores a question, puts it to the person and stores the answer. With a
// timeout the question stays open when that ends: the outcome is pending, and a
// later answer becomes a message. An error means that ctx ended or that the log
// cannot be written.
func (a *Agent) question(ctx context.Context, q session.Question, timeout time.Duration) (session.Answer, error) {
	at := a.where()
	var w *waiting
	err := a.rec.build(func(s *fold.State) ([]session.Event, error) {
		q.ID = fmt.Sprintf("q%d", s.Head+1)
		w = a.asking.add(q.ID)
		return []session.Event{session.New(session.KindQuestionAsked, q).At(at.Turn, at.Step)}, nil
	})
	if err == nil {
		err = a.rec.flush(ctx)
	}
	if err != nil {
		return session.Answer{}, err
	}
	answer, err := a.answerTo(ctx, q, timeout, w.answers)
	if err != nil { // nobody waits for it any more
		answer = session.Answer{Outcome: session.OutcomeDeclined}
	}
	answer.ID, answer.Text = q.ID, tool.Clean(answer.Text)
	stored := a.rec.build(func(*fold.State) ([]session.Event, error) {
		if given := a.asking.remove(q.ID); given != nil {
			answer = *given
			return nil, nil
		}
		return []session.Event{session.New(session.KindQuestionAnswered, answer).At(at.Turn, at.Step)}, nil
	})
	if stored == nil {
		stored = a.rec.flush(ctx)
	}
	return answer, errors.Join(err, stored)
}

// answerTo waits for one answer: the asker's, or one from elsewhere.
func (a *Agent) answerTo(ctx context.Context, q session.Question, timeout time.Duration, answers chan session.Answer) (session.Answer, error) {
	if a.Asker == nil {
		return session.Answer{Outcome: session.OutcomeUnavailable}, nil
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	var over <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		over = timer.C
	}
	go func() {
		answer := a.Asker.Ask(limited, q)
		if limited.Err() == nil {
			answers <- answer
		}
	}()
	select {
	case answer := <-answers:
		return answer, nil
	case <-over:
		return session.Answer{Outcome: session.OutcomePending}, nil
	case <-ctx.Done():
		return session.Answer{}, context.Cause(ctx)
	}
}

// Questions lists what has no answer yet, oldest first.
func (a *Agent) Questions() []session.Question {
	var open []session.Question
	a.rec.view(func(s *fold.State) {
		for _, q := range s.Questions {
			open = append(open, q.Question)
		}
	})
	return open
}

// Answer answers an open question from outside; the first answer counts. Where its
// asker has gone on, the answer becomes a message that wakes the agent (T18).
func (a *Agent) Answer(ctx context.Context, answer session.Answer) error {
	if err := a.rec.build(func(s *fold.State) ([]session.Event, error) { return a.answered(s, answer) }); err != nil {
		return err
	}
	return a.rec.flush(ctx)
}

// answered are the events of an answer from outside. Who waits for it has it then.
// The caller holds the record.
func (a *Agent) answered(s *fold.State, answer session.Answer) ([]session.Event, error) {
	at := slices.IndexFunc(s.Questions, func(q fold.Question) bool { return q.ID == answer.ID })
	if at < 0 {
		return nil, fmt.Errorf("there is no open question %q", answer.ID)
	}
	if answer.Outcome != session.OutcomeDeclined {
		answer.Outcome = session.OutcomeAnswered
	}
	answer.Text, answer.Choices = tool.Clean(answer.Text), slices.Clone(answer.Choices)
	for i, choice := range answer.Choices {
		answer.Choices[i] = tool.Clean(choice)
	}
	answer.Late = !a.asking.give(answer)
	events := []session.Event{session.New(session.KindQuestionAnswered, answer)}
	if answer.Late {
		events = append(events, session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextStep, Source: session.SourceOwner, Wake: true, Text: lateAnswer(s.Questions[at].Question, answer)}))
	}
	return events, nil
}

func lateAnswer(q session.Question, answer session.Answer) string {
	said := strings.Trim(strings.Join(append(slices.Clone(answer.Choices), answer.Text), "; "), "; ")
	if answer.Outcome == session.OutcomeDeclined {
		said = "(the person does not want to answer; that is no permission)"
	}
	return fmt.Sprintf("Answer to your pending question %s (call %s): %q\n%s", q.ID, q.CallID, q.Text, said)
}

func (q *questions) add(id string) *waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[string]*waiting{}
	}
	w := &waiting{answers: make(chan session.Answer, 2)}
	q.waiting[id] = w
	return w
}

// remove ends a wait and returns the answer that came from outside, nil for none.
func (q *questions) remove(id string) *session.Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.waiting[id]
	delete(q.waiting, id)
	return w.given
}

// give hands an answer from outside to who waits for it, and tells whether anybody
// does.
func (q *questions) give(answer session.Answer) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.waiting[answer.ID]
	if w == nil {
		return false
	}
	w.given = &answer
	w.answers <- answer // there is room: a question that was given an answer is not open
	return true
}
