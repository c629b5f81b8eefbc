package chat

import (
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// usageKinds are the events that a usage is counted from.
var usageKinds = []session.Kind{session.KindMessageAssistant, session.KindAttempt, session.KindModelCall, session.KindChildSettled}

// usages are model calls and their tokens by purpose. The zero value is none.
type usages struct {
	order []string
	rows  map[string]*usageRow
}

type usageRow struct {
	calls int
	usage llm.Usage
}

// event counts one event.
func (u *usages) event(e session.Event) {
	switch e.Kind {
	case session.KindMessageAssistant:
		if p, err := session.Decode[session.Assistant](e); err == nil {
			u.add(string(llm.PurposeMain), p.Usage)
		}
	case session.KindAttempt:
		if p, err := session.Decode[session.Attempt](e); err == nil {
			u.add("failed", p.Usage)
		}
	case session.KindModelCall:
		if p, err := session.Decode[session.ModelCall](e); err == nil {
			u.add(oneLine(string(p.Purpose), 20), p.Usage)
		}
	case session.KindChildSettled:
		if p, err := session.Decode[session.ChildSettled](e); err == nil {
			u.add("subagents", p.Usage)
		}
	}
}

func (u *usages) add(purpose string, usage llm.Usage) {
	if u.rows == nil {
		u.rows = map[string]*usageRow{}
	}
	row := u.rows[purpose]
	if row == nil {
		row = &usageRow{}
		u.rows[purpose] = row
		u.order = append(u.order, purpose)
	}
	row.calls++
	row.usage = row.usage.Add(usage)
}

func (u *usages) total() llm.Usage {
	var all llm.Usage
	for _, name := range u.order {
		all = all.Add(u.rows[name].usage)
	}
	return all
}

// table is what /cost says.
func (u *usages) table(cost func(llm.Usage) float64) string {
	if len(u.order) == 0 {
		return "no model call so far"
	}
	table := [][]string{{"kind", "calls", "input", "cached", "output", "price"}}
	price := func(usage llm.Usage) string {
		if cost == nil {
			return "unpriced"
		}
		return dollars(cost(usage))
	}
	row := func(name string, calls int, usage llm.Usage) {
		table = append(table, []string{name, fmt.Sprint(calls), render.Amount(usage.Input), render.Amount(usage.CacheRead), render.Amount(usage.Output), price(usage)})
	}
	calls := 0
	for _, name := range u.order {
		row(name, u.rows[name].calls, u.rows[name].usage)
		calls += u.rows[name].calls
	}
	if len(u.order) > 1 {
		row("total", calls, u.total())
	}
	text := columns(table)
	if cost == nil {
		text += "\nthe profile has no [price] for this model"
	}
	return text
}

// columns lays a table out, the first column to the left, the others to the right.
func columns(table [][]string) string {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, c := range row {
			widths[i] = max(widths[i], cells(c))
		}
	}
	var lines []string
	for _, row := range table {
		var b strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-cells(c))
			if i == 0 {
				b.WriteString(c + pad)
			} else {
				b.WriteString("  " + pad + c)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return strings.Join(lines, "\n")
}
