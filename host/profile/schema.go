package profile

import "time"

const schemaVersion = 1

// Capabilities are the services of the host that a row may deny.
var Capabilities = []string{"session.read", "session.steer", "session.spawn", "user.ask", "model.generate", "records.write"}

// root is every key of a profile, in the order in which they are printed.
var root = schema()

// pluginRow is one of [[plugins]].
var pluginRow = &shape{fields: []field{
	{name: "use", rule: reference{}},
	{name: "config", rule: free{}},
	{name: "on_failure", rule: words("continue", "end_turn")},
	{name: "deny", rule: listOf{item: words(Capabilities...), allowed: "a list of capabilities"}},
}}

func schema() *shape {
	const million = 1_000_000
	line := []field{
		{name: "threshold_ratio", rule: decimal("a part of the window from 0.05 to 1 (0.8 is 80 %)", 0.05, 1)},
		{name: "headroom_tokens", rule: whole(0, 100*million)},
		{name: "warning_margin_tokens", rule: whole(0, 100*million)},
		{name: "reminder_margin_tokens", rule: whole(0, 100*million)},
		{name: "trigger_tokens", rule: whole(256, 100*million)},
	}
	dollars := decimal("US dollars per million tokens, from 0 to 100000", 0, 100_000)
	const own = inShipped | inUser | inSettings | inOverride

	return &shape{fields: []field{
		{name: "schema", rule: whole(schemaVersion, schemaVersion), in: inProfile | inSettings},
		{name: "extends", rule: reference{suffix: ".toml"}, in: inProfile},
		{name: "description", rule: text("one line of text", true, false), in: inProfile},
		{name: "default_profile", rule: reference{suffix: ".toml"}, in: inSettings},
		{name: "notes_home", rule: directory{}, in: own},
		{name: "notes_project", rule: text("one line of text", true, false), in: own},
		{name: "agent_name", rule: match("a name of a-z, 0-9, _ and -", namePattern)},
		{name: "model", rule: &shape{fields: []field{
			{name: "provider", rule: words("openai", "scripted")},
			{name: "name", rule: text(`a model's name, or "auto"`, false, false)},
			{name: "base_url", rule: endpoint()},
			{name: "api_key_env", rule: variable()},
			{name: "context_window", rule: whole(1024, 100*million).or("auto")},
			{name: "max_output_tokens", rule: whole(1, 10*million)},
			{name: "effort", rule: words("off", "low", "high", "max")},
			{name: "params", rule: free{reserved: map[string]string{
				"model":                 "write model.name",
				"messages":              "leave it out",
				"tools":                 "leave it out; the plugins bring the tools",
				"stream":                "leave it out",
				"n":                     "leave it out; a step has one answer",
				"max_tokens":            "write model.max_output_tokens",
				"max_completion_tokens": "write model.max_output_tokens",
			}}},
			{name: "quirk", rule: match(`a vendor's name of a-z, 0-9, _ and -, or ""`, `^[a-z0-9_-]{0,64}$`)},
			{name: "system_update", rule: words("rewrite", "in_history")},
		}}},
		{name: "compaction", rule: &shape{
			fields: append([]field{
				{name: "strategy", rule: one{}},
				{name: "on_trigger", rule: words("auto", "ask", "off")},
			}, append(line, field{name: "models", rule: &shape{other: &shape{fields: line}}})...),
			other: free{},
		}},
		{name: "plugins", in: inProfile | inOverride, rule: listOf{
			allowed: "a list of tables; write [[plugins]] before each, or -c 'plugins=[{use=\"shell\"}]'",
			item:    pluginRow,
		}},
		{name: "plugin", rule: &shape{other: free{}}},
		{name: "limits", rule: &shape{fields: []field{
			{name: "max_steps", rule: whole(1, million)},
			{name: "max_turns", rule: whole(1, million)},
			{name: "max_tokens", rule: whole(1, million*million)},
			{name: "max_cost_usd", rule: decimal("US dollars from 0.0001 to 1000000", 0.0001, million)},
			{name: "timeout", rule: duration(time.Millisecond, 720*time.Hour, `a duration such as "45m", up to "720h"`)},
		}}},
		{name: "price", rule: &shape{fields: []field{
			{name: "input", rule: dollars},
			{name: "cached_input", rule: dollars},
			{name: "output", rule: dollars},
			{name: "source", rule: match(`where the price was read, with the date, such as "vendor's price page, 2026-08-21"`, `\d{4}-\d{2}-\d{2}`)},
		}}},
		{name: "retry", rule: &shape{fields: []field{
			{name: "max_retries", rule: whole(0, 100)},
			{name: "max_retry_after", rule: duration(0, time.Hour, `a duration such as "10s", up to "1h"`)},
		}}},
		{name: "prompt", rule: &shape{fields: []field{
			{name: "persona_prefix", rule: text("text", true, true)},
			{name: "persona_suffix", rule: text("text", true, true)},
		}}},
	}}
}
