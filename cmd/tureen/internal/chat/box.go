package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

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
