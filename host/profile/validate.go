package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shipped strategies have a table in many profiles without being selected.
var shippedStrategies = []string{"notesoup", "summary", "prune", "truncate", "none"}

// validate checks what no single key can tell.
func (l *loader) validate(p *Profile) {
	l.validateModel(p)
	l.validatePrice(p)
	l.validatePlugins(p)
	for name, n := range p.tree.get("compaction").table {
		unused := n.table != nil && name != "models" && name != tableName(p.Compaction.Strategy)
		if unused && !slices.Contains(shippedStrategies, name) {
			p.Warnings = append(p.Warnings, Problem{
				Origin: n.origin, Key: join("compaction", name),
				Found: fmt.Sprintf("this table is not used, the strategy is %q (%v)", p.Compaction.Strategy, p.Origin("compaction.strategy")),
				Hint:  didYouMean(name, []string{tableName(p.Compaction.Strategy)}),
			})
		}
	}
	l.validateModels(p)
	slices.SortFunc(p.Warnings, func(a, b Problem) int { return strings.Compare(a.Key, b.Key) })
}

// validateModels tells of budget keys for names that no model has: the name counts as
// it stands. Keys for models that this run does not use are no fault.
func (l *loader) validateModels(p *Profile) {
	models := p.tree.get("compaction", "models")
	if models == nil {
		return
	}
	for name, n := range models.table {
		if strings.ContainsAny(name, "*?") {
			p.Warnings = append(p.Warnings, Problem{
				Origin: n.origin, Key: join("compaction.models", name),
				Found: "this table applies to no model: a name counts as it stands, without patterns",
				Hint:  fmt.Sprintf("write the model's whole name, such as %q", cmp.Or(p.Model.Name, "gpt-4.1")),
			})
		}
	}
}

func (l *loader) validateModel(p *Profile) {
	m := p.Model
	if m.Provider == providerScripted && m.BaseURL != "" {
		l.report(Problem{
			Origin: p.Origin("model.base_url"), Key: "model.base_url",
			Found: fmt.Sprintf("provider %q (%v) has no endpoint", m.Provider, p.Origin("model.provider")),
			Hint:  `leave base_url out, or write provider = "openai"`,
		})
	}
	if m.ContextWindow > 0 && m.MaxOutputTokens >= m.ContextWindow {
		l.report(Problem{
			Origin: p.Origin("model.max_output_tokens"), Key: "model.max_output_tokens",
			Found:   fmt.Sprintf("found number %d, which leaves no room for input in a window of %d (%v)", m.MaxOutputTokens, m.ContextWindow, p.Origin("model.context_window")),
			Allowed: "less than context_window",
		})
	}
}

func (l *loader) validatePrice(p *Profile) {
	if t := p.tree.get("price"); t != nil {
		for _, name := range []string{"input", "output"} {
			if t.get(name) == nil {
				l.report(Problem{Origin: t.origin, Key: "price." + name, Found: "missing", Hint: "a price needs input and output; without [price] calls are unpriced"})
			}
		}
	}
	switch {
	case p.Price != nil:
	case p.Limits.MaxCostUSD > 0:
		hint := "write [price] with input and output, or leave the limit out"
		if l.dropped != nil {
			hint = fmt.Sprintf("the [price] at %v belongs to another model; write one for %q", l.dropped.Origin, p.Model.Name)
		}
		l.report(Problem{Origin: p.Origin("limits.max_cost_usd"), Key: "limits.max_cost_usd", Found: "a cost limit needs a price, and there is none", Hint: hint})
	case l.dropped != nil:
		p.Warnings = append(p.Warnings, *l.dropped)
	}
}

func (l *loader) validatePlugins(p *Profile) {
	l.exists(p, "compaction.strategy", p.Compaction.Strategy)
	seen := map[string]int{}
	for i, row := range p.Plugins {
		key := row.Key + ".use"
		first, twice := seen[row.Use]
		switch {
		case row.Use == "":
			l.report(Problem{Origin: p.Origin(row.Key), Key: key, Found: "missing", Hint: "name the plugin of this row"})
		case twice:
			l.report(Problem{Origin: p.Origin(key), Key: key, Found: fmt.Sprintf("%q stands in plugins[%d] (%v) too", row.Use, first, p.Origin(fmt.Sprintf("plugins[%d]", first))), Hint: "keep one of the rows"})
		default:
			seen[row.Use] = i
			l.exists(p, key, row.Use)
		}
	}
}

// exists checks a plugin that is named by a path.
func (l *loader) exists(p *Profile, key, use string) {
	if !filepath.IsAbs(use) {
		return
	}
	_, err := os.Stat(use)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.report(Problem{Origin: p.Origin(key), Key: key, Found: fmt.Sprintf("there is no file %q", use), Allowed: "an executable file, or a directory with plugin.toml",
			Hint: "mend the path, which is relative to the profile's file, with -c to the working directory"})
	case err != nil:
		l.report(Problem{Origin: p.Origin(key), Key: key, Found: fmt.Sprintf("found %q: %s", use, cause(err)), Allowed: "an executable file, or a directory with plugin.toml"})
	}
}
