package profile

import (
	"encoding/json"
	"time"

	"github.com/tureen-host/tureen/compaction"
)

// Profile is a resolved, valid profile. Paths in it are absolute. The caller
// owns it; WriteResolved prints what was loaded, whatever was changed since.
type Profile struct {
	Name        string // as -P would say it, without ".toml"
	Path        string // the file; "profiles/NAME.toml" for a shipped one
	Description string
	Project     bool // it, or its base, came from a project: untrusted
	// ProjectFiles are the files of the project that it was read from, its own
	// before its base's, as they were read, and those that the configs in it name.
	ProjectFiles []ProjectFile
	AgentName    string // whose @self notes these are (N3)
	Model        Model
	Compaction   Compaction
	Plugins      []Plugin // in file order; a row may name the strategy's plugin too
	PluginTables []string // the names of the [plugin.NAME] tables; their keys are in the rows
	Limits       Limits
	Price        *Price // nil: unpriced, which is not 0
	Retry        Retry
	Prompt       Prompt
	NotesHome    string
	NotesProject string // what the user calls the project that notes belong to, "" = find out

	// Origins tells for each dotted key who set it. List items are "plugins[0].use".
	Origins map[string]Origin
	// Warnings are what loaded but will hardly do what was meant.
	Warnings []Problem

	tree *node
	dirs map[string]string // what a relative path under a dotted key is relative to
	home string
}

// ProjectFile is a file that a project brought: its real, absolute path and the
// SHA-256 of its bytes in hexadecimal.
type ProjectFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Model says who answers (M2, M3, M4, L12, M25).
type Model struct {
	Provider        string // openai | scripted
	Name            string // "auto": the first that the endpoint lists
	BaseURL         string // "" for scripted
	APIKeyEnv       string // name of a variable; "" = send no key
	ContextWindow   int    // tokens; 0 = "auto", ask the endpoint
	MaxOutputTokens int
	Effort          string         // "" = the endpoint's default; else off | low | high | max
	Params          map[string]any // sent as they are: string, int64, float64, bool, []any, map[string]any
	Quirk           string         // vendor row to use; "" = told from the base URL
	SystemUpdate    string         // rewrite | in_history
}

// Compaction chooses the strategy and the line.
type Compaction struct {
	Strategy  string // "none", a plugin's name, or an absolute path
	OnTrigger string // auto | ask | off (N21)
	// Config is the selected strategy's own table, {} where there is none. Table
	// is its dotted key, for Origin and Problem.
	Config json.RawMessage
	Table  string

	budget compaction.BudgetConfig
	models map[string]compaction.BudgetConfig
}

// Budget returns the written budget keys for a model in use (C3, N13); a key of
// [compaction.models."NAME"] wins over the same key of [compaction].
func (c Compaction) Budget(model string) compaction.BudgetConfig {
	b, m := c.budget, c.models[model]
	if m.ThresholdRatio != nil {
		b.ThresholdRatio = m.ThresholdRatio
	}
	for _, f := range []struct{ to, from **int }{
		{&b.Headroom, &m.Headroom},
		{&b.WarningMargin, &m.WarningMargin},
		{&b.ReminderMargin, &m.ReminderMargin},
		{&b.TriggerTokens, &m.TriggerTokens},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	return b
}

// Plugin is one row of [[plugins]].
type Plugin struct {
	Use       string          // a plugin's name or an absolute path
	Config    json.RawMessage // an object, {} where none is written
	OnFailure string          // continue | end_turn (L15)
	Deny      []string        // capabilities refused to it
	Key       string          // "plugins[0]", for Origin and Problem
}

// Limits end a turn (L3). Zero means no limit.
type Limits struct {
	MaxSteps   int
	MaxTurns   int
	MaxTokens  int
	MaxCostUSD float64
	Timeout    time.Duration
}

// Price is in US dollars per million tokens. CachedInput nil means that cache
// reads cost what Input costs.
type Price struct {
	Input       float64
	CachedInput *float64
	Output      float64
	Source      string // where the numbers come from, with a date
}

// Retry bounds the retries of a step (M18).
type Retry struct {
	MaxRetries    int
	MaxRetryAfter time.Duration
}

// Prompt is put around the host's own prompt (SP3).
type Prompt struct {
	PersonaPrefix string
	PersonaSuffix string
}
