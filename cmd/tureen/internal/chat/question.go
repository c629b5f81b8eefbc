package chat

import (
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

const (
	maxOptions = 20
	// detailRows is how many rows of a question's detail stand in its box; a longer
	// one is in the scrollback in full.
	detailRows = 8
	// boxText is the most bytes of a question's text or detail in its box.
	boxText = 4096
)

// box is a question that waits for the person.
type box struct {
	key     int64
	q       session.Question
	late    bool // its asker has gone on
	reply   func(session.Answer)
	at      int  // the option that Enter takes; an approval begins with none, -1
	bare    bool // an approval that came without options
	chosen  map[int]bool
	text    editor
	writing bool // keys go to the text
	focus   bool // keys go to the box
}

func newBox(key int64, q session.Question, late bool, reply func(session.Answer)) *box {
	if len(q.Options) > maxOptions {
		q.Options = q.Options[:maxOptions]
	}
	b := &box{key: key, late: late, reply: reply, chosen: map[int]bool{}}
	if q.Kind == session.QuestionApproval {
		if b.at = -1; len(q.Options) == 0 {
			b.bare, q.Options = true, []session.Option{{Label: "Yes"}, {Label: "No"}}
		}
	}
	b.q, b.writing = q, len(q.Options) == 0
	return b
}

// free tells whether words of one's own are an answer.
func (b *box) free() bool { return len(b.q.Options) == 0 || b.q.Kind != session.QuestionApproval }

// key handles a key. done tells that the answer is complete.
func (b *box) press(name, text string) (answer session.Answer, done bool) {
	if b.writing {
		return b.write(name, text)
	}
	n := len(b.q.Options)
	switch {
	case name == "esc":
		return session.Answer{Outcome: session.OutcomeDeclined}, true
	case name == "up":
		b.at = (max(b.at, 0) + n - 1) % n
	case name == "down":
		b.at = (b.at + 1) % n
	case name == "space" && b.q.Multiple && b.at >= 0:
		b.chosen[b.at] = !b.chosen[b.at]
	case name == "enter":
		return b.choices()
	case len(text) == 1 && text[0] >= '1' && text[0] <= '9':
		if i := int(text[0] - '1'); i < n {
			b.at = i
			if !b.q.Multiple {
				return b.choices()
			}
			b.chosen[i] = !b.chosen[i]
		}
	case b.free() && (name == "tab" || text != "" && text != " "):
		b.writing = true
		if name != "tab" {
			b.text.insert(text)
		}
	}
	return session.Answer{}, false
}

func (b *box) write(name, text string) (session.Answer, bool) {
	switch {
	case name == "esc" && len(b.q.Options) > 0:
		b.writing = false
	case name == "esc":
		return session.Answer{Outcome: session.OutcomeDeclined}, true
	case name == "tab" && len(b.q.Options) > 0:
		b.writing = false
	case name == "enter":
		if words := strings.TrimSpace(b.text.value()); words != "" {
			return session.Answer{Outcome: session.OutcomeAnswered, Text: words}, true
		}
	case b.text.key(name):
	case name == "up":
		b.text.up()
	case name == "down":
		b.text.down()
	case text != "":
		b.text.insert(text)
	}
	return session.Answer{}, false
}

// choices is the answer that Enter gives; none is complete before one is chosen.
func (b *box) choices() (session.Answer, bool) {
	answer := session.Answer{Outcome: session.OutcomeAnswered}
	for i, o := range b.q.Options {
		if b.chosen[i] {
			answer.Choices = append(answer.Choices, o.Label)
		}
	}
	switch {
	case len(answer.Choices) > 0:
	case b.at < 0:
		return session.Answer{}, false
	case b.bare && b.at == 0:
		answer.Text = "yes"
	case b.bare:
		answer.Outcome = session.OutcomeDeclined
	default:
		answer.Choices = []string{b.q.Options[b.at].Label}
	}
	return answer, true
}
