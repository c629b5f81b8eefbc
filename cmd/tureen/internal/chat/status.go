package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

var spinnerFrames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// spinner is the frame of this moment.
func (m *model) spinner() string {
	return spinnerFrames[int(m.now.UnixMilli()/tickEvery.Milliseconds())%len(spinnerFrames)]
}

// percent is how much of the window is used, "" where that is unknown.
func percent(m session.Meter) string {
	if m.Window <= 0 {
		return render.Amount(m.Measured) + " tokens"
	}
	return fmt.Sprintf("%d%%", (m.Measured*100+m.Window/2)/m.Window)
}

// part is a piece of the status line; those of a higher rank go first where the
// terminal is narrow.
type part struct {
	plain, styled string
	rank          int
}

// status is the last row: what runs, how full the context is, what waits.
func (m *model) status() string {
	style := m.o.Style
	var parts []part
	add := func(rank int, plain string, paint func(string) string) {
		if plain != "" {
			parts = append(parts, part{plain, paint(plain), rank})
		}
	}
	if m.busy() {
		add(0, m.spinner()+" "+m.doing(), style.Cyan)
	}
	barWidth := 20
	if m.width < 60 {
		barWidth = 10
	}
	if drawn := render.Bar(m.meter, barWidth, style); drawn != "" {
		parts = append(parts, part{strings.Repeat("x", barWidth), drawn, 2})
	}
	used := percent(m.meter)
	if m.meter.Window > 0 && m.width >= 60 {
		used += " of " + render.Amount(m.meter.Window)
	}
	add(1, used, func(s string) string { return s })
	add(5, oneLine(m.facts.Model, 30), style.Faint)
	add(7, oneLine(m.facts.Strategy, 20), style.Faint)
	if m.facts.Cost != nil {
		add(4, dollars(m.facts.Cost(m.usage.total())), style.Faint)
	}
	if n := len(m.queue); n > 0 {
		add(3, fmt.Sprintf("%d queued", n), style.Yellow)
	}
	if n := len(m.agents); n > 0 {
		add(3, render.Count(n, "agent"), style.Yellow)
	}
	return fitParts(parts, m.textWidth())
}

// fitParts joins parts with a dot between, without those that do not fit.
func fitParts(parts []part, width int) string {
	for {
		total, worst := 0, -1
		for i, p := range parts {
			if total += cells(p.plain); i > 0 {
				total += 3
			}
			if worst < 0 || p.rank >= parts[worst].rank {
				worst = i
			}
		}
		if total <= width || len(parts) == 0 {
			break
		}
		if len(parts) == 1 {
			return fit(parts[0].plain, width)
		}
		parts = append(parts[:worst:worst], parts[worst+1:]...)
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.styled)
	}
	return strings.Join(texts, " · ")
}

// doing is what goes on, in a word, and since when.
func (m *model) doing() string {
	what := "working"
	switch {
	case m.closing:
		what = "opening the session"
	case len(m.boxes) > 0:
		what = "waiting for you"
	case m.waiting != "" && !m.turn:
		what = "waiting"
	case m.compacting:
		what = "compacting"
	case len(m.tools) > 0:
		what = render.Count(len(m.tools), "tool")
	case m.stream.begun || m.stream.tail != "":
		what = "answering"
	case m.stream.thinks > 0:
		what = "thinking"
	}
	if m.began.IsZero() || m.now.Before(m.began) {
		return what
	}
	return what + " " + elapsed(m.now.Sub(m.began))
}

// elapsed is a duration in whole seconds: 4s, 3m05s, 1h02m.
func elapsed(d time.Duration) string {
	s := int(d.Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}

// dollars is a price as people read it.
func dollars(usd float64) string {
	if usd < 1 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}
