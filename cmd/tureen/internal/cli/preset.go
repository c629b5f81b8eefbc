package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/profiles"
)

// preset is a kind of endpoint that a first profile can be written for.
type preset struct {
	name     string
	about    string // one line
	baseURL  string // "" leaves it to OPENAI_BASE_URL
	keyEnv   string // "" sends no key
	quirk    string // only where the address does not give the vendor away
	names    bool   // model = "auto" would take any model: it has to be named
	window   string // what is known about the window, a comment
	facts    []string
	notePort bool
}

// presets are in the order in which they are offered.
var presets = []preset{
	{
		name: "openai", about: "api.openai.com, or whatever OPENAI_BASE_URL names", keyEnv: "OPENAI_API_KEY", names: true,
		window: "this endpoint does not tell it: without a number nothing is compacted",
		facts:  []string{"effort is sent as reasoning_effort, the output cap as max_completion_tokens."},
	},
	{
		name: "deepseek", about: "api.deepseek.com", baseURL: "https://api.deepseek.com/v1", keyEnv: "DEEPSEEK_API_KEY", names: true,
		window: "this endpoint does not tell it: without a number nothing is compacted",
		facts:  []string{"effort switches thinking on and off; the reasoning is sent back, as this vendor wants it."},
	},
	{
		name: "openrouter", about: "openrouter.ai, many vendors behind one key", baseURL: "https://openrouter.ai/api/v1", keyEnv: "OPENROUTER_API_KEY", names: true,
		window: `asked of the endpoint, which tells it by model`,
		facts:  []string{"effort is sent as reasoning.effort."},
	},
	{
		name: "together", about: "api.together.xyz", baseURL: "https://api.together.xyz/v1", keyEnv: "TOGETHER_API_KEY", names: true,
		window: `asked of the endpoint, which tells it by model`,
		facts:  []string{"effort only switches reasoning on or off."},
	},
	{
		name: "vllm", about: "a vLLM server on this machine", baseURL: "http://127.0.0.1:8000/v1", quirk: "vllm", notePort: true,
		window: `asked of the server: what --max-model-len says`,
		facts:  []string{"Start the server with --enable-auto-tool-choice and a --tool-call-parser, or tools do not work."},
	},
	{
		name: "llamacpp", about: "a llama.cpp server on this machine", baseURL: "http://127.0.0.1:8080/v1", quirk: "llamacpp", notePort: true,
		window: `asked of the server; an older one tells the length of the training: then write what -c says`,
		facts:  []string{"Start llama-server with --jinja, or tools do not work."},
	},
	{
		name: "ollama", about: "an Ollama server on this machine", baseURL: "http://127.0.0.1:11434/v1", notePort: true,
		window: "this server does not tell it: write what OLLAMA_CONTEXT_LENGTH says; without a number nothing is compacted",
		facts:  []string{"Its default window is small and longer input is cut without a word: set OLLAMA_CONTEXT_LENGTH for the server."},
	},
	{name: presetDemo, about: "no key, no network: a rule-based model and a small window"},
}

const presetDemo = "demo"

func presetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

func findPreset(name string) (preset, error) {
	if i := slices.Index(presetNames(), name); i >= 0 {
		return presets[i], nil
	}
	return preset{}, usagef(did(nearest(name, presetNames()), "there are: "+strings.Join(presetNames(), ", ")), "no preset is called %q", name)
}

// filled is what the user chose beside a preset, "" for nothing.
type filled struct{ model, baseURL string }

// text is a profile that says what it does.
func (p preset) text(f filled) string {
	if p.name == presetDemo {
		demo, _ := profiles.FS.ReadFile("demo.toml") // it is embedded
		return string(demo)
	}
	if f.baseURL != "" {
		p.baseURL = f.baseURL
	}
	lines := []string{
		"# Written by tureen init, for you to change. `tureen profile show --resolved` prints",
		"# every value that is in force and who set it, `tureen profile check` finds mistakes,",
		"# `tureen doctor --probe` asks the endpoint whether it does what an agent needs.",
		"schema      = 1",
		`extends     = "base"                    # brings the tools: files, search, shell`,
		"description = " + quoted(p.about),
		"",
		"[model]",
	}
	lines = append(append(lines, p.model(f)...), compactionText...)
	return strings.Join(lines, "\n") + "\n"
}

func (p preset) model(f filled) []string {
	var lines []string
	set := func(key, value, comment string) { lines = append(lines, setting(key, value, comment)) }
	switch {
	case f.model != "":
		set("name", quoted(f.model), "")
	case p.names:
		set("# name", `"…"`, "to fill in, or run with -m: the first that the endpoint lists may be no chat model")
	default:
		set("name", `"auto"`, "the first model that the server lists")
	}
	switch {
	case p.baseURL == "":
		set("# base_url", `"https://api.openai.com/v1"`, "OPENAI_BASE_URL counts where this is left out")
	case p.notePort && f.baseURL == "":
		set("base_url", quoted(p.baseURL), "the server's usual port")
	default:
		set("base_url", quoted(p.baseURL), "")
	}
	if p.keyEnv != "" {
		set("api_key_env", quoted(p.keyEnv), "the name of a variable: a key never stands in a file")
	} else {
		set("api_key_env", `""`, "no key is sent; else the name of a variable")
	}
	if p.quirk != "" {
		set("quirk", quoted(p.quirk), "the port does not tell which server this is")
	}
	set("# context_window", "128000", p.window)
	set("max_output_tokens", "8192", "of one answer; it is kept free in the window")
	set("# effort", `"high"`, "off, low, high or max")
	for _, fact := range p.facts {
		lines = append(lines, "# "+fact)
	}
	return lines
}

// compactionText is the rest of a first profile.
var compactionText = strings.Split(`
# What happens when the context runs low: notesoup (the agent keeps notes and gets a
# fresh notebook, no model call), summary (one model call), none, or ./your-plugin.
[compaction]
strategy        = "notesoup"
# threshold_ratio = 0.8                   # the part of the window at which it is due

# [limits]                                # a run that reaches one ends with exit code 4
# max_steps     = 200
# max_cost_usd  = 2.00                    # needs a [price]`, "\n")

// setting is a line of a profile, its comment in a column of its own.
func setting(key, value, comment string) string {
	line := fmt.Sprintf("%-17s = %s", key, value)
	if comment == "" {
		return line
	}
	return fmt.Sprintf("%-39s # %s", line, comment)
}

// quoted writes a text as TOML does; control characters never come here.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
