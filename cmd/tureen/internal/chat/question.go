package chat

import (
	"fmt"
	"slices"
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

// rows draws the box; x and y are where the cursor of its text stands, y < 0 where
// none does.
func (b *box) rows(m *model, height int) (rows []string, x, y int) {
	style, width := m.o.Style, m.textWidth()-2
	who := "question"
	if b.q.Kind == session.QuestionApproval {
		who = "approval"
	}
	if b.q.Plugin != "" {
		who += " · " + oneLine(b.q.Plugin, 30)
	}
	if n := len(m.boxes) - 1; n > 0 {
		who += fmt.Sprintf(" · %d more behind it", n)
	}
	rows = append(rows, style.Yellow(fit("┌ "+who, m.textWidth())))
	line := func(paint func(string) string, text string) { rows = append(rows, style.Yellow("│ ")+paint(text)) }
	plain := func(s string) string { return s }
	for _, row := range bounded(wrap(begin(b.q.Text), width), max(2, height/3), "") {
		line(style.Bold, row)
	}
	if b.q.Detail != "" {
		for _, row := range bounded(wrap(begin(b.q.Detail), width), max(2, min(detailRows, height/3)), "… in full above") {
			line(style.Faint, row)
		}
	}
	tail := 2 // the text and the help
	from, to := around(max(b.at, 0), len(b.q.Options), max(1, height-len(rows)-tail))
	for i := from; i < to; i++ {
		line(plain, b.option(m, i, width))
	}
	y = -1
	if b.writing {
		text, cx, cy := b.text.rows(width-2, max(1, height-len(rows)-1))
		for i, row := range text {
			prompt := "  "
			if i == 0 {
				prompt = "› "
			}
			line(plain, prompt+row)
		}
		x, y = cx+4, len(rows)-len(text)+cy
	}
	rows = append(rows, style.Yellow("└ ")+style.Faint(fit(b.help(), width)))
	return rows, x, y
}

func (b *box) option(m *model, i, width int) string {
	o := b.q.Options[i]
	mark := "  "
	if i == b.at && !b.writing {
		mark = "› "
	}
	if b.q.Multiple {
		if b.chosen[i] {
			mark += "[x] "
		} else {
			mark += "[ ] "
		}
	}
	text := fmt.Sprintf("%s%d %s", mark, i+1, oneLine(o.Label, width))
	if o.Description != "" {
		text += " – " + oneLine(o.Description, width)
	}
	text = fit(text, width)
	if i == b.at && !b.writing {
		return m.o.Style.Cyan(text)
	}
	return text
}

func (b *box) help() string {
	switch {
	case !b.focus:
		return "Tab: answer it"
	case b.writing && len(b.q.Options) > 0:
		return "Enter: answer · Esc: back to the options"
	case b.writing:
		return "Enter: answer · Esc: decline"
	case b.q.Multiple:
		return "Space: mark · Enter: answer · Esc: decline"
	case b.free():
		return "1–9 or Enter: choose · type: your own words · Esc: decline"
	}
	return "1–9, or arrows and Enter: choose · Esc: decline"
}

// begin is the beginning of a text, clean.
func begin(text string) string {
	if len(text) > boxText {
		text = strings.ToValidUTF8(text[:boxText], "") + "…"
	}
	return clean(text)
}

// around is a range of at most n of total that holds at.
func around(at, total, n int) (from, to int) {
	from = max(0, min(at-n/2, total-n))
	return from, min(total, from+n)
}

// bounded cuts rows to n, the last of them saying so.
func bounded(rows []string, n int, more string) []string {
	if len(rows) <= n {
		return rows
	}
	if more == "" {
		more = "…"
	}
	return append(slices.Clone(rows[:n-1]), more)
}

// ask takes a question. It gets the keys at once only where the person is not
// typing: a key that was meant for the input must not approve anything.
func (m *model) ask(b *box) {
	m.boxes = append(m.boxes, b)
	if c := m.calls[b.q.CallID]; b.q.Kind == session.QuestionApproval && b.q.Detail == "" && c.Name != "" {
		b.q.Detail = c.Name + " " + c.Arguments
	}
	if b.q.Detail != "" {
		if rows := wrap(clean(b.q.Detail), m.textWidth()-2); len(rows) > detailRows {
			m.block(blockReply)
			m.printStyled(m.o.Style.Bold, indented("? ", clean(b.q.Text), m.textWidth()))
			for _, row := range rows {
				m.print("  " + row)
			}
		}
	}
	m.focusBox()
}

// focusBox gives the first question the keys where nobody is typing.
func (m *model) focusBox() {
	if len(m.boxes) > 0 && m.edit.empty() && m.o.Now().Sub(m.typed) >= settle {
		m.boxes[0].focus = true
	}
}

// answer ends the first question.
func (m *model) answerFirst(answer session.Answer) {
	b := m.boxes[0]
	m.boxes = m.boxes[1:]
	answer.ID = b.q.ID
	b.reply(answer)
	if len(m.boxes) > 0 { // the person is answering
		m.boxes[0].focus = b.focus
	}
}

// withdraw takes a question away that nobody waits for any more.
func (m *model) withdraw(gone func(*box) bool) {
	m.boxes = slices.DeleteFunc(m.boxes, gone)
	m.focusBox()
}

// questionAnswered tells what a question came to. One whose asker has gone on stays.
func (m *model) questionAnswered(a session.Answer) {
	q, known := m.asked[a.ID]
	if a.Outcome == session.OutcomePending {
		if known {
			m.ask(m.lateBox(q))
		}
		return
	}
	delete(m.asked, a.ID)
	m.withdraw(func(b *box) bool { return b.late && b.q.ID == a.ID })
	if !known {
		return
	}
	said := strings.Join(append(slices.Clone(a.Choices), a.Text), "; ")
	if said = strings.Trim(said, "; "); a.Outcome != session.OutcomeAnswered {
		said = string(a.Outcome)
	}
	text, _, _ := strings.Cut(strings.TrimSpace(q.Text), "\n")
	m.notice(m.o.Style.Faint, "? ", oneLine(text, 160)+" → "+oneLine(said, 160))
}

// lateBox is a question whose answer becomes a message.
func (m *model) lateBox(q session.Question) *box {
	return newBox(m.o.key(), q, true, func(a session.Answer) { m.send(func(s Session) error { return s.Answer(m.ctx, a) }, "") })
}
