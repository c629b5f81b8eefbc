package profile

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tureen-host/tureen/compaction"
)

// fill sets the profile's fields from the resolved tree, whose values all
// passed their rules.
func (l *loader) fill(p *Profile) {
	t := p.tree
	p.Description = t.get("description").text()
	p.AgentName = t.get("agent_name").text()
	p.NotesHome, p.NotesProject = t.get("notes_home").text(), t.get("notes_project").text()
	p.Model = model(t.get("model"))
	p.Compaction = compactionOf(t.get("compaction"))
	p.Plugins = plugins(t.get("plugins"), t.get("plugin"))
	if tables := t.get("plugin"); tables != nil {
		p.PluginTables = slices.Sorted(maps.Keys(tables.table))
	}
	p.Limits = limits(t.get("limits"))
	p.Price = price(t.get("price"))
	p.Retry = Retry{
		MaxRetries:    integer(t.get("retry", "max_retries")),
		MaxRetryAfter: length(t.get("retry", "max_retry_after")),
	}
	p.Prompt = Prompt{
		PersonaPrefix: t.get("prompt", "persona_prefix").text(),
		PersonaSuffix: t.get("prompt", "persona_suffix").text(),
	}
	p.Origins, p.dirs, p.home = map[string]Origin{}, map[string]string{}, l.home
	t.walk("", func(key string, n *node) {
		if key != "" {
			p.Origins[key], p.dirs[key] = n.origin, n.dir
		}
	})
}

func model(t *node) Model {
	m := Model{
		Provider:        t.get("provider").text(),
		Name:            t.get("name").text(),
		BaseURL:         t.get("base_url").text(),
		APIKeyEnv:       t.get("api_key_env").text(),
		ContextWindow:   integer(t.get("context_window")), // "auto" is 0
		MaxOutputTokens: integer(t.get("max_output_tokens")),
		Effort:          t.get("effort").text(),
		Quirk:           t.get("quirk").text(),
		SystemUpdate:    t.get("system_update").text(),
	}
	if params := t.get("params"); params != nil {
		m.Params, _ = params.plain().(map[string]any)
	}
	return m
}

func compactionOf(t *node) Compaction {
	c := Compaction{
		Strategy:  t.get("strategy").text(),
		OnTrigger: t.get("on_trigger").text(),
		budget:    budget(t),
		models:    map[string]compaction.BudgetConfig{},
	}
	table := tableName(c.Strategy)
	c.Table = join("compaction", table)
	c.Config = config(nil)
	if selected := t.get(table); selected != nil && selected.table != nil && table != "models" {
		c.Config = config(selected)
	}
	if models := t.get("models"); models != nil {
		for name, keys := range models.table {
			c.models[name] = budget(keys)
		}
	}
	return c
}

// tableName is the [compaction.NAME] of a strategy: its name, or the file's name
// without its extension.
func tableName(strategy string) string {
	base := filepath.Base(strategy)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func budget(t *node) compaction.BudgetConfig {
	var b compaction.BudgetConfig
	if f, ok := t.get("threshold_ratio").float(); ok {
		b.ThresholdRatio = &f
	}
	for name, to := range map[string]**int{
		"headroom_tokens":        &b.Headroom,
		"warning_margin_tokens":  &b.WarningMargin,
		"reminder_margin_tokens": &b.ReminderMargin,
		"trigger_tokens":         &b.TriggerTokens,
	} {
		if n := t.get(name); n != nil {
			i := integer(n)
			*to = &i
		}
	}
	return b
}

// plugins reads the rows; the keys of [plugin.NAME] are laid over the config of the
// row that uses NAME.
func plugins(t, tables *node) []Plugin {
	if t == nil {
		return nil
	}
	rows := make([]Plugin, 0, len(t.list))
	for i, row := range t.list {
		p := Plugin{Use: row.get("use").text(), OnFailure: "end_turn", Config: config(row.get("config")), Key: fmt.Sprintf("plugins[%d]", i)}
		if on := row.get("on_failure"); on != nil {
			p.OnFailure = on.text()
		}
		if deny := row.get("deny"); deny != nil {
			for _, capability := range deny.list {
				p.Deny = append(p.Deny, capability.text())
			}
		}
		if over := tables.get(p.Use); over != nil {
			p.Config = laid(p.Config, over.json())
		}
		rows = append(rows, p)
	}
	return rows
}

// laid puts the keys of over on under; both are objects.
func laid(under, over json.RawMessage) json.RawMessage {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(under, &a) != nil || json.Unmarshal(over, &b) != nil {
		return over
	}
	maps.Copy(a, b)
	out, _ := json.Marshal(a)
	return out
}

func config(t *node) json.RawMessage {
	if t == nil {
		return json.RawMessage("{}")
	}
	return t.json()
}

func limits(t *node) Limits {
	cost, _ := t.get("max_cost_usd").float()
	return Limits{
		MaxSteps:   integer(t.get("max_steps")),
		MaxTurns:   integer(t.get("max_turns")),
		MaxTokens:  integer(t.get("max_tokens")),
		MaxCostUSD: cost,
		Timeout:    length(t.get("timeout")),
	}
}

func price(t *node) *Price {
	if t == nil {
		return nil
	}
	p := Price{Source: t.get("source").text()}
	p.Input, _ = t.get("input").float()
	p.Output, _ = t.get("output").float()
	if cached, ok := t.get("cached_input").float(); ok {
		p.CachedInput = &cached
	}
	return &p
}

func integer(n *node) int {
	i, _ := n.whole()
	return int(i)
}

func length(n *node) time.Duration {
	d, _ := time.ParseDuration(n.text()) // checked by its rule; "" is 0
	return d
}
