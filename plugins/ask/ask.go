package ask

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
	"github.com/tureen-host/tureen/plugins/sdk"
)

type askArgs struct {
	Questions []struct {
		Question string           `json:"question"`
		Options  []session.Option `json:"options"`
		Multiple bool             `json:"multiple"`
	} `json:"questions"`
	Timed bool `json:"timed"`
}

// answered is one question as the model gets it back.
type answered struct {
	ID       string          `json:"id,omitempty"` // of one that is pending: the late answer names it
	Question string          `json:"question"`
	Outcome  session.Outcome `json:"outcome"`
	Choices  []string        `json:"choices,omitempty"`
	Text     string          `json:"text,omitempty"`
}

// What the model reads besides the answers.
const (
	notePending = "Where the outcome is pending, nobody has answered yet. That is neither a no nor a permission. Go on with work that does not depend on it. " +
		"The person can still answer: a message with the question's id will say what."
	noteDeclined = "Where the outcome is declined, the person saw the question and did not want to answer. That is not a permission: " +
		"take the cautious way, and do not ask the same thing again."
	textUnavailable = "nobody can be asked in this run. Decide yourself where every choice is safe and can be undone; " +
		"otherwise leave it, and say in your final answer what is open and what you need to know"
	textSubagent = "a subagent cannot ask the person. Put the question, and what you would choose, into your last answer: " +
		"the agent that gave you the task reads it"
)

// stated is how long a question is waited for that comes after a pending one: the
// person is not there, but may see it and answer later.
const stated = time.Millisecond

// ask puts the questions one after the other (T18). In timed mode each is waited
// for until the first that nobody answers.
func (p *Provider) ask(ctx context.Context, call tool.Call, args askArgs) (string, error) {
	parent, open := p.parent(call.Session)
	switch {
	case !open:
		return "", toolcall.Errorf("SESSION_UNKNOWN", "session %q is not open in this plugin", call.Session)
	case parent != "":
		return "", toolcall.Errorf("NO_PERSON", textSubagent)
	}
	questions, err := questionsOf(call, args)
	if err != nil {
		return "", err
	}
	wait := time.Duration(0)
	if p.config.Timed || args.Timed {
		wait = p.config.Timeout
	}
	access := p.host.Session(call.Session)
	var answers []answered
	for _, q := range questions {
		a, err := access.Ask(ctx, q, wait)
		switch {
		case errors.Is(err, sdk.ErrDenied):
			return "", toolcall.Errorf("NO_PERSON", "this profile does not let plugin %q reach the person: %s", Name, textUnavailable)
		case err != nil:
			return "", err
		case a.Outcome == session.OutcomeUnavailable:
			return "", toolcall.Errorf("NO_PERSON", textUnavailable)
		}
		entry := answered{Question: q.Text, Outcome: a.Outcome, Choices: a.Choices, Text: a.Text}
		if a.Outcome == session.OutcomePending {
			entry.ID, wait = a.ID, stated
		}
		answers = append(answers, entry)
	}
	return result(answers)
}

// questionsOf checks what the schema cannot.
func questionsOf(call tool.Call, args askArgs) ([]session.Question, error) {
	var questions []session.Question
	for i, in := range args.Questions {
		text := strings.TrimSpace(tool.Clean(in.Question))
		if text == "" {
			return nil, toolcall.Errorf("BAD_QUESTION", "question %d has no text; write what you want to know", i+1)
		}
		seen := map[string]bool{}
		var options []session.Option
		for _, o := range in.Options {
			o.Label, o.Description = strings.TrimSpace(tool.Clean(o.Label)), strings.TrimSpace(tool.Clean(o.Description))
			if o.Label == "" || seen[o.Label] {
				return nil, toolcall.Errorf("BAD_QUESTION", "question %d: the label %q is empty or stands twice; give each option its own", i+1, o.Label)
			}
			seen[o.Label] = true
			options = append(options, o)
		}
		questions = append(questions, session.Question{CallID: call.ID, Text: text, Options: options, Multiple: in.Multiple && len(options) > 0})
	}
	return questions, nil
}

// result is the answers as JSON, with what their outcomes mean.
func result(answers []answered) (string, error) {
	out := struct {
		Answers []answered `json:"answers"`
		Notes   []string   `json:"notes,omitempty"`
	}{Answers: answers}
	meaning := map[session.Outcome]string{session.OutcomePending: notePending, session.OutcomeDeclined: noteDeclined}
	for _, a := range answers {
		if note := meaning[a.Outcome]; note != "" {
			out.Notes = append(out.Notes, note)
			delete(meaning, a.Outcome)
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(out)
	return strings.TrimSuffix(b.String(), "\n"), err
}
