package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// questionID tells the id of a question from the words of an answer.
var questionID = regexp.MustCompile(`^q[0-9]+$`)

func (a *app) answerCommand() *cobra.Command {
	v := answerVerb{mailVerb: mailVerb{app: a}}
	cmd := &cobra.Command{
		Use:   "answer SESSION [QUESTION-ID] TEXT | --choose LABEL | --decline",
		Short: "Answer a question of an agent that runs elsewhere",
		Long: `Answer gives your answer to a session that another process works in. Without a
QUESTION-ID it is for the oldest question that is open; tureen session show lists
them. An agent that went on without the answer gets it as a message.

Where nobody works in the session the answer waits in it, and tureen resume takes
it.`,
		Example: `  tureen answer last "use port 8080"
  tureen answer 01k7 q42 --choose "Allow once"
  tureen answer last --decline`,
		Args: arguments(1, -1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.id, args = args[0], args[1:]
			if len(args) > 0 && questionID.MatchString(args[0]) {
				v.question, args = args[0], args[1:]
			}
			return v.answer(cmd.Context(), args)
		},
	}
	cmd.Flags().StringArrayVar(&v.choices, "choose", nil, "an option, by its label or its number (repeatable where several may be chosen)")
	cmd.Flags().BoolVar(&v.decline, "decline", false, "say that you do not want to answer; an approval is denied")
	cmd.Flags().BoolVar(&v.noWait, "no-wait", false, "do not wait until the session's process has taken it")
	jsonFlag(cmd, &v.asJSON)
	return cmd
}

// answerVerb is one answer to a question.
type answerVerb struct {
	mailVerb
	question string // "" = the oldest
	choices  []string
	decline  bool
}

func (v *answerVerb) answer(ctx context.Context, words []string) error {
	text := tool.Clean(strings.Join(words, " "))
	given := strings.TrimSpace(text) != ""
	switch {
	case v.decline && (given || len(v.choices) > 0):
		return usagef("leave the rest out to decline", "--decline goes with no other answer")
	case !v.decline && !given && len(v.choices) == 0:
		return usagef(`write it: tureen answer `+v.id+` "TEXT", or name an option with --choose LABEL`, "the answer is empty")
	case len(text) > maxPrompt:
		return usagef("write it to a file and name the file", "the answer is longer than %d MiB", maxPrompt>>20)
	}
	return v.withStore(func(s *store) error {
		id, err := s.Resolve(ctx, v.id)
		if err != nil {
			return err
		}
		q, err := s.question(ctx, id, v.question)
		if err != nil {
			return err
		}
		answer, err := v.to(q, text)
		if err != nil {
			return err
		}
		body, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		d, err := s.deliver(ctx, id, session.Mail{Command: session.CommandAnswer, Text: string(body)}, !v.noWait)
		if err != nil {
			return err
		}
		if err := s.counted(ctx, id, answer); err != nil {
			return err
		}
		return v.print(v.asJSON, answerDelivery{d, q.ID}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s %q: %s\n", q.ID, render.Head(q.Text, 60), d)
			return err
		})
	})
}

// answerDelivery is what became of an answer.
type answerDelivery struct {
	delivery
	Question string `json:"question"`
}

// to is the answer to a question, as its options allow.
func (v *answerVerb) to(q session.Question, text string) (session.Answer, error) {
	a := session.Answer{ID: q.ID, Outcome: session.OutcomeAnswered, Text: text}
	if v.decline {
		a.Outcome = session.OutcomeDeclined
	}
	for _, word := range v.choices {
		label := optionOf(q, word)
		if label == "" {
			return a, usagef(offered(q), "question %s has no option %q", q.ID, word)
		}
		if !slices.Contains(a.Choices, label) {
			a.Choices = append(a.Choices, label)
		}
	}
	switch {
	case len(a.Choices) > 1 && !q.Multiple:
		return a, usagef("choose one", "question %s takes one option", q.ID)
	case q.Kind == session.QuestionApproval && len(q.Options) > 0 && text != "":
		return a, usagef(offered(q), "question %s is an approval, which takes no words", q.ID)
	}
	return a, nil
}

// offered is what to do about an option that there is not.
func offered(q session.Question) string {
	if len(q.Options) == 0 {
		return "it takes a text of your own"
	}
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, fmt.Sprintf("--choose %q", render.Head(o.Label, 80)))
	}
	return "answer with " + strings.Join(labels, " or ")
}

// question finds an open question of a session, "" being the oldest. Where nobody
// works in the session only those count that were not waited for.
func (s *store) question(ctx context.Context, id, name string) (session.Question, error) {
	owner, err := s.owner(ctx, id)
	if err != nil {
		return session.Question{}, err
	}
	log, err := s.View(ctx, id)
	if err != nil {
		return session.Question{}, stateFault(id, err)
	}
	defer log.Close()
	open, err := openQuestions(ctx, log)
	if err != nil {
		return session.Question{}, stateFault(id, err)
	}
	if owner == "" {
		open = slices.DeleteFunc(open, func(q fold.Question) bool { return !q.Pending })
	}
	var ids []string
	for _, q := range open {
		if name == "" || q.ID == name {
			return q.Question, nil
		}
		ids = append(ids, q.ID)
	}
	if len(ids) > 0 {
		return session.Question{}, faultf(exitState, "QUESTION_NOT_FOUND", "open are "+strings.Join(ids, ", "), "session %s has no open question %q", id, name)
	}
	return session.Question{}, faultf(exitState, "QUESTION_NOT_FOUND", "tureen session show "+id+" shows what it does; tureen steer and tureen prompt give it your words unasked",
		"session %s has no open question", id)
}

// counted tells whether an answer is the one that counts, where the question has one:
// of several that come at the same time only the first does.
func (s *store) counted(ctx context.Context, id string, mine session.Answer) error {
	log, err := s.View(ctx, id)
	if err != nil {
		return stateFault(id, err)
	}
	defer log.Close()
	for e, err := range log.Read(ctx, session.Query{Kinds: []session.Kind{session.KindQuestionAnswered}, Reverse: true}) {
		if err != nil {
			return stateFault(id, err)
		}
		a, err := session.Decode[session.Answer](e)
		if err != nil || a.ID != mine.ID || a.Outcome == session.OutcomePending {
			continue
		}
		if a.Outcome == mine.Outcome && a.Text == mine.Text && slices.Equal(a.Choices, mine.Choices) {
			return nil
		}
		return faultf(exitState, "ANSWER_TOO_LATE", "tureen session show "+id+" shows which one", "question %s got another answer first; yours does not count", mine.ID)
	}
	return nil
}

// openQuestions lists what nobody has answered yet, oldest first.
func openQuestions(ctx context.Context, log session.Reader) ([]fold.Question, error) {
	var open []fold.Question
	for e, err := range log.Read(ctx, session.Query{Kinds: []session.Kind{session.KindQuestionAsked, session.KindQuestionAnswered}}) {
		if err != nil {
			return nil, err
		}
		if q, err := session.Decode[session.Question](e); err == nil && e.Kind == session.KindQuestionAsked {
			open = append(open, fold.Question{Question: q})
		}
		a, err := session.Decode[session.Answer](e)
		at := slices.IndexFunc(open, func(q fold.Question) bool { return q.ID == a.ID })
		switch {
		case err != nil || at < 0 || e.Kind != session.KindQuestionAnswered:
		case a.Outcome == session.OutcomePending:
			open[at].Pending = true
		default:
			open = slices.Delete(open, at, at+1)
		}
	}
	return open, nil
}
