package profile

import (
	"fmt"
	"maps"
	"strings"
)

// defaults hold where nothing else speaks.
const (
	defaults = `
agent_name = "tureen"
notes_home = "~/.agents/notes"
[model]
context_window = "auto"
max_output_tokens = 8192
system_update = "rewrite"
[compaction]
strategy = "none"
on_trigger = "auto"
[retry]
max_retries = 5
max_retry_after = "10s"
`
	openaiDefaults = `
[model]
provider = "openai"
name = "auto"
base_url = "https://api.openai.com/v1"
api_key_env = "OPENAI_API_KEY"
`
	scriptedDefaults = `
[model]
provider = "scripted"
name = "scripted-rules"
`
)

const (
	providerOpenAI   = "openai"
	providerScripted = "scripted"
)

// resolve merges the layers, the lowest first.
func (l *loader) resolve(base, own, overrides *node) *node {
	notes := l.env(sourceNotes, "TUREEN_NOTES_HOME", "notes_home")
	url := l.env(sourceBaseURL, "OPENAI_BASE_URL", "model", "base_url")
	var tree *node
	for _, layer := range []*node{l.settings, url, base, own, notes, overrides} {
		tree = l.lay(tree, layer)
	}
	l.checkEnv(tree, notes, "notes_home")
	l.checkEnv(tree, url, "model", "base_url")
	vendor := openaiDefaults
	if provider(tree) == providerScripted {
		vendor = scriptedDefaults
	}
	return merge(merge(l.fixed(defaults), l.fixed(vendor)), tree)
}

// lay puts a layer on top of those before it. A price goes with its model, and
// all of [model] with its provider.
func (l *loader) lay(tree, layer *node) *node {
	if tree == nil || layer == nil {
		return merge(tree, layer)
	}
	lower := *tree
	lower.table = maps.Clone(tree.table)
	was, now := tree.get("model", "name"), layer.get("model", "name")
	switch chosen := layer.get("model", "provider"); {
	case chosen != nil && provider(layer) != provider(tree):
		delete(lower.table, "model")
		l.dropPrice(&lower, chosen)
	case was != nil && now != nil && was.value != now.value:
		l.dropPrice(&lower, now)
	}
	return merge(&lower, layer)
}

// dropPrice takes the price of a model out that is not in use any more.
func (l *loader) dropPrice(lower, chosen *node) {
	price := lower.get("price")
	if price == nil {
		return
	}
	delete(lower.table, "price")
	l.dropped = &Problem{
		Origin: price.origin, Key: "price",
		Found: fmt.Sprintf("this price is not used, %q (%v) is another model", chosen.text(), chosen.origin),
		Hint:  "write a [price] where the model is named",
	}
}

// provider is the one that a layer names, else the default.
func provider(tree *node) string {
	if p := tree.get("model", "provider"); p != nil {
		return p.text()
	}
	return providerOpenAI
}

// env is a layer of one variable; nil where it is not set.
func (l *loader) env(source, variable string, keys ...string) *node {
	value := l.Env(variable)
	if value == "" {
		return nil
	}
	return l.place(Origin{Source: source}, keys, strings.ToValidUTF8(value, "\uFFFD"))
}

// checkEnv checks a variable's value where it is in use: a bad one that a
// profile overrides hurts nobody.
func (l *loader) checkEnv(tree, env *node, keys ...string) {
	if n := env.get(keys...); n != nil && n == tree.get(keys...) {
		l.check(env, inOverride)
	}
}

// place builds a layer that holds one value.
func (l *loader) place(origin Origin, keys []string, value any) *node {
	for i := len(keys) - 1; i >= 0; i-- {
		value = map[string]any{keys[i]: value}
	}
	d := document{origin: origin, dir: l.Dir}
	return builder{document: d}.build("", value, origin)
}

// fixed is a layer of the defaults.
func (l *loader) fixed(text string) *node {
	n, problems := document{origin: Origin{Source: sourceDefault}, dir: l.Dir, data: []byte(text)}.parse()
	if len(problems) > 0 {
		panic("profile: built-in defaults: " + problems[0].Error())
	}
	if l.home == "" {
		delete(n.table, "notes_home") // there is no home to keep them in
	}
	l.check(n, inSettings)
	return n
}
