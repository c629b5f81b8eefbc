package host

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// StrategyNone is the strategy of a profile that never compacts.
const StrategyNone = "none"

// userEnv names the shipped plugin that gets the user's environment, less what
// looks like a secret.
const userEnv = "shell"

// policyPlugin names the shipped plugin that decides what may run (T16).
const policyPlugin = "policy"

// PluginSpecs lists the processes that a profile runs: its rows in order, the
// strategy's plugin last. A row that names the strategy's plugin is the same
// process.
func PluginSpecs(p *profile.Profile, self []string) ([]pluginhost.Spec, error) {
	return pluginSpecs(Config{Profile: p, Self: self})
}

func pluginSpecs(c Config) ([]pluginhost.Spec, error) {
	strategy := profile.Plugin{Use: c.Profile.Compaction.Strategy, Config: c.Profile.Compaction.Config, OnFailure: "end_turn", Key: "compaction.strategy"}
	for _, name := range c.Profile.PluginTables {
		if !slices.ContainsFunc(c.Profile.Plugins, func(row profile.Plugin) bool { return row.Use == name }) {
			p := c.Profile.Problem("plugin."+name, "no row of [[plugins]] uses it")
			p.Hint = "add the row, or take the table out; tureen plugin list shows the rows"
			return nil, p
		}
	}
	var specs []pluginhost.Spec
	tables := []string{c.Profile.Compaction.Table}
	for _, row := range c.Profile.Plugins {
		if row.Use == strategy.Use {
			tables = append(tables, tablesOf(row)...)
			strategy.Deny, strategy.OnFailure = row.Deny, row.OnFailure
			strategy.Config = merge(row.Config, strategy.Config)
			continue
		}
		spec, err := specOf(c, row, tablesOf(row))
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	if strategy.Use == StrategyNone {
		return specs, nil
	}
	spec, err := specOf(c, strategy, tables)
	return append(specs, spec), err
}

// tablesOf are the tables that a row's config comes from, the one that wins first.
func tablesOf(row profile.Plugin) []string { return []string{"plugin." + row.Use, row.Key + ".config"} }

// pathIn makes the path under a key of a config absolute, by the first of its tables
// that has the key.
func pathIn(p *profile.Profile, tables []string) func(key, path string) string {
	return func(key, path string) string {
		for _, table := range tables {
			if _, ok := p.Origins[table+"."+key]; ok {
				return p.Locate(table+"."+key, path)
			}
		}
		return path
	}
}

func specOf(c Config, row profile.Plugin, tables []string) (pluginhost.Spec, error) {
	spec, err := pluginhost.Resolve(row.Use, c.Self)
	if err != nil {
		found, hint, _ := strings.Cut(err.Error(), "; ")
		p := c.Profile.Problem(row.Key, found)
		p.Hint = hint
		return spec, p
	}
	if row.Use == policyPlugin && row.OnFailure == "continue" {
		p := c.Profile.Problem(row.Key+".on_failure", `"continue" would let every call run once the policy fails`)
		p.Hint = `leave it out, or take plugin "policy" out of the profile where nothing is to be asked about`
		return spec, p
	}
	spec.Config, spec.OnFailure, spec.UserEnv = row.Config, row.OnFailure, row.Use == userEnv
	spec.Origin, spec.Path = c.Profile.Origin(row.Key).String(), pathIn(c.Profile, tables)
	for _, d := range row.Deny {
		spec.Deny = append(spec.Deny, sdk.Capability(d))
	}
	return spec, nil
}

// merge lays the keys of over on under.
func merge(under, over json.RawMessage) json.RawMessage {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(under, &a) != nil || json.Unmarshal(over, &b) != nil {
		return over
	}
	for k, v := range b {
		a[k] = v
	}
	out, _ := json.Marshal(a)
	return out
}

func persona(p profile.Prompt) agent.Persona {
	return agent.Persona{Prefix: p.PersonaPrefix, Suffix: p.PersonaSuffix}
}

func retry(r profile.Retry) agent.Retry {
	return agent.Retry{Max: r.MaxRetries, MaxRetryAfter: r.MaxRetryAfter}
}

func limits(p *profile.Profile) agent.Limits {
	return agent.Limits{Steps: p.Limits.MaxSteps, Turns: p.Limits.MaxTurns, Tokens: p.Limits.MaxTokens, Timeout: p.Limits.Timeout,
		CostUSD: p.Limits.MaxCostUSD, Cost: Cost(p)}
}

// Cost prices a usage in USD, nil where the profile has no price for its model.
func Cost(p *profile.Profile) func(llm.Usage) float64 {
	if p.Price == nil {
		return nil
	}
	price := *p.Price
	return func(u llm.Usage) float64 { return cost(price, u) }
}

// cost prices a usage in USD. Cache writes cost what input does.
func cost(p profile.Price, u llm.Usage) float64 {
	cached := p.Input
	if p.CachedInput != nil {
		cached = *p.CachedInput
	}
	return (float64(u.Input+u.CacheWrite)*p.Input + float64(u.CacheRead)*cached + float64(u.Output)*p.Output) / 1e6
}
