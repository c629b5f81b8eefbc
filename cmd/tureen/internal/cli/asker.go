package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/session"
)

// tries is how often an approval is asked for until what was typed makes sense.
const tries = 3

// person answers at the terminal that a run has for itself. It is an agent.Asker;
// questions that come together are put one after the other.
type person struct {
	*app
	asking sync.Mutex
}

// asker reaches the person at the terminal, nil where none is there (T16, T18).
func (a *app) asker() agent.Asker {
	if !a.canAsk() {
		return nil
	}
	return &person{app: a}
}

// Ask implements agent.Asker. An approval has no default: an empty line and the end
// of the input deny it.
func (p *person) Ask(ctx context.Context, q session.Question) session.Answer {
	p.asking.Lock()
	defer p.asking.Unlock()
	if ctx.Err() != nil {
		return session.Answer{Outcome: session.OutcomeDeclined}
	}
	keys := p.keys()
	keys.forget()
	shown := p.lines.Question(q)
	for range tries {
		p.lines.Ask(shown + prompted(q))
		line, err := keys.line(ctx)
		if err != nil {
			p.lines.Withdrawn()
			break
		}
		answer, understood := read(q, line)
		p.lines.Answered()
		if understood {
			return answer
		}
		shown = p.lines.Yellow("that is none of the answers") + "\n"
	}
	return session.Answer{Outcome: session.OutcomeDeclined}
}

// prompted says what can be typed.
func prompted(q session.Question) string {
	n := len(q.Options)
	number := "1"
	if n > 1 {
		number = fmt.Sprintf("1-%d", n)
	}
	switch {
	case q.Kind == session.QuestionApproval && n == 0:
		return "  y or n; Enter is n > "
	case q.Kind == session.QuestionApproval:
		return "  " + number + ", y or n; Enter is n > "
	case n == 0:
		return "  your answer; Enter alone declines > "
	case q.Multiple:
		return "  " + number + ", several with commas, or your own words; Enter alone declines > "
	}
	return "  " + number + " or your own words; Enter alone declines > "
}

// read takes what was typed for an answer, where it is one.
func read(q session.Question, line string) (session.Answer, bool) {
	if line == "" {
		return session.Answer{Outcome: session.OutcomeDeclined}, true
	}
	if choices := choicesOf(q, line); choices != nil {
		return session.Answer{Outcome: session.OutcomeAnswered, Choices: choices}, true
	}
	if q.Kind != session.QuestionApproval {
		return session.Answer{Outcome: session.OutcomeAnswered, Text: line}, true
	}
	switch strings.ToLower(line) {
	case "n", "no":
		return session.Answer{Outcome: session.OutcomeDeclined}, true
	case "y", "yes":
		if len(q.Options) == 0 {
			return session.Answer{Outcome: session.OutcomeAnswered, Text: "yes"}, true
		}
		if allows := q.Options[0].Label; allowing(allows) {
			return session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{allows}}, true
		}
	}
	return session.Answer{}, false
}

// allowing tells whether a label says yes, so that y may stand for it.
func allowing(label string) bool {
	word, _, _ := strings.Cut(strings.ToLower(label), " ")
	return word == "allow" || word == "yes" || word == "approve"
}

// choicesOf reads numbers or labels of options, nil where line is none. Several
// stand with commas between them.
func choicesOf(q session.Question, line string) []string {
	if one := optionOf(q, line); one != "" {
		return []string{one}
	}
	if !q.Multiple {
		return nil
	}
	var choices []string
	for _, part := range strings.Split(line, ",") {
		label := optionOf(q, strings.TrimSpace(part))
		if label == "" {
			return nil
		}
		choices = append(choices, label)
	}
	return choices
}

// optionOf finds an option by its number or its label, "" for none.
func optionOf(q session.Question, word string) string {
	for _, o := range q.Options {
		if strings.EqualFold(o.Label, word) {
			return o.Label
		}
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1].Label
	}
	return ""
}
