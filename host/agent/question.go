package agent

import (
	"context"
	"errors"
	"fmt"
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
	waiting map[string]chan session.Answer
}

// question stores a question, puts it to the person and stores the answer. With a
// timeout the question stays open when that ends: the outcome is pending, and a
// later answer becomes a message. An error means that ctx ended or that the log
// cannot be written.
func (a *Agent) question(ctx context.Context, q session.Question, timeout time.Duration) (session.Answer, error) {
	at := a.where()
	err := a.rec.build(func(s *fold.State) ([]session.Event, error) {
		q.ID = fmt.Sprintf("q%d", s.Head+1)
		return []session.Event{session.New(session.KindQuestionAsked, q).At(at.Turn, at.Step)}, nil
	})
	if err == nil {
		err = a.rec.flush(ctx)
	}
	if err != nil {
		return session.Answer{}, err
	}
	answer, err := a.answerTo(ctx, q, timeout)
	if err != nil { // nobody waits for it any more
		answer = session.Answer{Outcome: session.OutcomeDeclined}
	}
	answer.ID, answer.Text = q.ID, tool.Clean(answer.Text)
	return answer, errors.Join(err, a.rec.commit(ctx, session.New(session.KindQuestionAnswered, answer).At(at.Turn, at.Step)))
}

// answerTo waits for one answer: the asker's, or one from elsewhere.
func (a *Agent) answerTo(ctx context.Context, q session.Question, timeout time.Duration) (session.Answer, error) {
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
	answers := make(chan session.Answer, 2)
	a.asking.add(q.ID, answers)
	defer a.asking.remove(q.ID)
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

// Answer answers an open question from outside. Where its asker has gone on, the
// answer becomes a message that wakes the agent (T18).
func (a *Agent) Answer(ctx context.Context, answer session.Answer) error {
	if a.asking.deliver(answer) {
		return nil
	}
	for _, q := range a.Questions() {
		if q.ID != answer.ID {
			continue
		}
		answer.Late = true
		if err := a.rec.stage(session.New(session.KindQuestionAnswered, answer)); err != nil {
			return err
		}
		return a.push(ctx, session.InboxItem{Queue: session.NextStep, Source: session.SourceOwner, Wake: true, Text: lateAnswer(q, answer)})
	}
	return fmt.Errorf("there is no open question %q", answer.ID)
}

func lateAnswer(q session.Question, answer session.Answer) string {
	said := strings.Join(append(answer.Choices, answer.Text), "; ")
	return fmt.Sprintf("Answer to your pending question %s (call %s): %q\n%s", q.ID, q.CallID, q.Text, strings.Trim(said, "; "))
}

func (q *questions) add(id string, to chan session.Answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[string]chan session.Answer{}
	}
	q.waiting[id] = to
}

func (q *questions) remove(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiting, id)
}

func (q *questions) deliver(answer session.Answer) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	to, ok := q.waiting[answer.ID]
	if ok {
		select {
		case to <- answer:
		default: // answered already
		}
	}
	return ok
}
