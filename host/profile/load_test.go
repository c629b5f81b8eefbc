package profile_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/plugins/sdk"
)

var shipped = fstest.MapFS{
	"base.toml": {Data: []byte(`schema = 1
description = "the base"
[[plugins]]
use = "files"
[[plugins]]
use = "shell"
config = { timeout = "60s" }
`)},
	"child.toml": {Data: []byte("schema = 1\nextends = \"base\"\n[compaction]\nstrategy = \"summary\"\n")},
}

func TestM2_M3_ExplicitWindowAndParams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.toml", `schema = 1
[model]
name = "deepseek-chat"
context_window = 200_000
max_output_tokens = 8192
effort = "high"
quirk = "deepseek"
system_update = "in_history"
params = { temperature = 0.2, seed = 7, top_p = 1.0, stop = ["a"], extra = { on = true } }
`)
	m := w.load("./p.toml").Model
	want := profile.Model{
		Provider: "openai", Name: "deepseek-chat", BaseURL: "https://api.openai.com/v1", APIKeyEnv: "OPENAI_API_KEY",
		ContextWindow: 200000, MaxOutputTokens: 8192, Effort: "high", Quirk: "deepseek", SystemUpdate: "in_history",
		Params: map[string]any{"temperature": 0.2, "seed": int64(7), "top_p": 1.0, "stop": []any{"a"}, "extra": map[string]any{"on": true}},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("model\n got %+v\nwant %+v", m, want)
	}
	if m := w.load("base").Model; m.ContextWindow != 0 || m.Params != nil || m.Effort != "" {
		t.Errorf("what nobody wrote: %+v", m)
	}
	if m := w.load("./p.toml", "model.context_window=auto").Model; m.ContextWindow != 0 {
		t.Errorf("auto window = %d, want 0", m.ContextWindow)
	}
}

func TestL3_LimitsAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.load("base").Limits; got != (profile.Limits{}) {
		t.Errorf("without [limits] there are %+v", got)
	}
	w.write("p.toml", `schema = 1
[limits]
max_steps = 3
max_turns = 4
max_tokens = 5_000_000_000
max_cost_usd = 2
timeout = "1h30m"
[price]
input = 0
output = 1.1
`)
	p := w.load("./p.toml")
	if want := (profile.Limits{MaxSteps: 3, MaxTurns: 4, MaxTokens: 5_000_000_000, MaxCostUSD: 2, Timeout: 90 * time.Minute}); p.Limits != want {
		t.Errorf("limits = %+v, want %+v", p.Limits, want)
	}
	if p.Price == nil || p.Price.Input != 0 || p.Price.Output != 1.1 || p.Price.CachedInput != nil {
		t.Errorf("price = %+v", p.Price)
	}
}

func TestSP3_M18_PersonaAndRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.load("base").Retry; got != (profile.Retry{MaxRetries: 5, MaxRetryAfter: 10 * time.Second}) {
		t.Errorf("default retry = %+v", got)
	}
	w.write("p.toml", "schema = 1\n[prompt]\npersona_prefix = \"\"\"one\ntwo\"\"\"\npersona_suffix = \"three\"\n[retry]\nmax_retries = 0\nmax_retry_after = \"2m\"\n")
	p := w.load("./p.toml")
	if p.Prompt != (profile.Prompt{PersonaPrefix: "one\ntwo", PersonaSuffix: "three"}) {
		t.Errorf("prompt = %+v", p.Prompt)
	}
	if p.Retry != (profile.Retry{MaxRetryAfter: 2 * time.Minute}) {
		t.Errorf("retry = %+v", p.Retry)
	}
}

func TestC3_N13_N21_BudgetKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.load("child")
	if got := p.Compaction.Budget("any"); got != (compaction.BudgetConfig{}) || p.Compaction.OnTrigger != "auto" {
		t.Errorf("absent keys: %+v, on_trigger %q", got, p.Compaction.OnTrigger)
	}
	w.write("p.toml", `schema = 1
[compaction]
on_trigger = "off"
threshold_ratio = 0.7
headroom_tokens = 32768
[compaction.models."gpt-4.1"]
headroom_tokens = 0
trigger_tokens = 49152
`)
	c := w.load("./p.toml", `compaction.models."gpt-4.1".warning_margin_tokens=7`).Compaction
	ratio, headroom, none, trigger, warning := 0.7, 32768, 0, 49152, 7
	if got, want := c.Budget("other"), (compaction.BudgetConfig{ThresholdRatio: &ratio, Headroom: &headroom}); !reflect.DeepEqual(got, want) {
		t.Errorf("budget of another model = %+v", got)
	}
	want := compaction.BudgetConfig{ThresholdRatio: &ratio, Headroom: &none, TriggerTokens: &trigger, WarningMargin: &warning}
	if got := c.Budget("gpt-4.1"); !reflect.DeepEqual(got, want) || c.OnTrigger != "off" {
		t.Errorf("budget = %+v, on_trigger %q", got, c.OnTrigger)
	}
}

// N22: only the table of the selected strategy counts, and numbers stay what
// they are.
func TestN22_SelectedStrategyTable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.toml", `schema = 1
[compaction]
strategy = "notesoup"
[compaction.notesoup]
whole = 1
decimal = 1.0
small = 1e-7
large = 9007199254740993
nested = { list = [1, 2.5, "<x>"], on = false }
day = 2026-08-21
[compaction.summary]
nonsense = true
[compaction.notesuop]
carry = "lost"
[compaction.keep_errors]
last = 3
`)
	p := w.load("./p.toml")
	want := `{"day":"2026-08-21","decimal":1.0,"large":9007199254740993,"nested":{"list":[1,2.5,"<x>"],"on":false},"small":1e-07,"whole":1}`
	if got := string(p.Compaction.Config); got != want {
		t.Errorf("config\n got %s\nwant %s", got, want)
	}
	if got := p.Problem("compaction.notesoup.nested.on", "no").Error(); got != "p.toml:9:36: compaction.notesoup.nested.on: no" {
		t.Errorf("placed problem = %s", got)
	}
	if got := p.Problem(p.Compaction.Table+".absent", "missing").Error(); got != "p.toml:4:13: compaction.notesoup.absent: missing" {
		t.Errorf("placed problem = %s", got)
	}
	var warned []string
	for _, warning := range p.Warnings {
		warned = append(warned, warning.Error())
	}
	if wantWarned := []string{
		`p.toml:15:13: compaction.keep_errors: this table is not used, the strategy is "notesoup" (p.toml:3)`,
		`p.toml:13:13: compaction.notesuop: this table is not used, the strategy is "notesoup" (p.toml:3); did you mean "notesoup"?`,
	}; !slices.Equal(warned, wantWarned) {
		t.Errorf("warnings\n got %s", strings.Join(warned, "\n     "))
	}

	w.write("keep_errors.py", "#!/bin/true\n")
	p = w.load("./p.toml", "compaction.strategy=./keep_errors.py")
	if string(p.Compaction.Config) != `{"last":3}` || p.Compaction.Strategy != filepath.Join(w.dir, "keep_errors.py") {
		t.Errorf("strategy %q, config %s", p.Compaction.Strategy, p.Compaction.Config)
	}
}

func TestExtends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("team/base.toml", `schema = 1
description = "only the base"
[model]
name = "m"
effort = "low"
params = { seed = 1, temperature = 0.5 }
[[plugins]]
use = "files"
[[plugins]]
use = "shell"
`)
	w.write("p.toml", `schema = 1
extends = "./team/base.toml"
[model]
effort = "max"
params = { temperature = 0.7 }
[[plugins]]
use = "search"
on_failure = "continue"
deny = ["model.generate"]
`)
	p := w.load("./p.toml")
	if p.Model.Name != "m" || p.Model.Effort != "max" || p.Description != "" {
		t.Errorf("model %+v, description %q", p.Model, p.Description)
	}
	if want := map[string]any{"seed": int64(1), "temperature": 0.7}; !reflect.DeepEqual(p.Model.Params, want) {
		t.Errorf("tables merge: %v, want %v", p.Model.Params, want)
	}
	want := []profile.Plugin{{Use: "search", Config: []byte("{}"), OnFailure: "continue", Deny: []string{"model.generate"}, Key: "plugins[0]"}}
	if !reflect.DeepEqual(p.Plugins, want) {
		t.Errorf("lists are replaced: %+v", p.Plugins)
	}
	for key, origin := range map[string]string{
		"model.name": "team/base.toml:4", "model.effort": "p.toml:4", "model.params.seed": "team/base.toml:6",
		"model.params.temperature": "p.toml:5", "plugins[0].use": "p.toml:7", "retry.max_retries": "default",
	} {
		if got := p.Origins[key].String(); got != origin {
			t.Errorf("origin of %s = %q, want %q", key, got, origin)
		}
	}

	p = w.load("child")
	if len(p.Plugins) != 2 || p.Plugins[1].OnFailure != "end_turn" || string(p.Plugins[1].Config) != `{"timeout":"60s"}` {
		t.Errorf("inherited rows: %+v", p.Plugins)
	}
	p = w.load("child", `plugins=[{use="x", config={n=1}}]`)
	if len(p.Plugins) != 1 || string(p.Plugins[0].Config) != `{"n":1}` || p.Origins["plugins[0].use"].String() != "-c" {
		t.Errorf("rows by -c: %+v", p.Plugins)
	}
}

// A base is looked up from the profile's own shelf down.
func TestExtendsLooksDownwards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(".tureen/profiles/base.toml", "schema = 1\nextends = \"base\"\n[model]\nname = \"project\"\n")
	w.write("config/profiles/mine.toml", "schema = 1\nextends = \"base\"\n")

	p := w.load("base")
	if !p.Project || p.Model.Name != "project" || len(p.Plugins) != 2 {
		t.Errorf("a project's base refines the shipped one: project %v, model %q, %d plugins", p.Project, p.Model.Name, len(p.Plugins))
	}
	for _, name := range []string{"mine", "child"} {
		if p := w.load(name); p.Project || p.Model.Name != "auto" || len(p.Plugins) != 2 {
			t.Errorf("%s: project %v, model %q: the project's base got under it", name, p.Project, p.Model.Name)
		}
	}
	w.write("p.toml", "schema = 1\nextends = \"base\"\n")
	_, err := profile.Load("./p.toml", w.options())
	if got := problems(t, err); len(got) != 1 || !strings.Contains(got[0], `"base" extends "base" itself`) {
		t.Errorf("got %v", got)
	}
	w.write(".tureen/profiles/base.toml", "schema = 1\n[model]\nname = \"project\"\n")
	if p := w.load("./p.toml"); !p.Project {
		t.Error("a file that extends a project's profile is not marked as untrusted")
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("config/settings.toml", `default_profile = "p"
notes_home = "~/my notes"
[model]
name = "from-settings"
api_key_env = "SETTINGS_KEY"
effort = "low"
quirk = "settings"
[retry]
max_retries = 1
max_retry_after = "1s"
`)
	w.write(".tureen/profiles/p.toml", "schema = 1\nextends = \"b\"\n[model]\nname = \"from-profile\"\neffort = \"high\"\n")
	w.write(".tureen/profiles/b.toml", "schema = 1\n[model]\nname = \"from-base\"\nquirk = \"base\"\n[retry]\nmax_retries = 2\n")
	o := w.options("model.effort=max", "retry.max_retry_after=3s", "retry.max_retry_after=4s")
	o.Flags = []profile.Flag{{Name: "--model", Key: "model.name", Value: "42"}, {Name: "--max-turns", Key: "limits.max_turns", Value: 3}}
	p, err := profile.Load("", o)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{p.Name, p.Model.Name, p.Model.Effort, p.Model.Quirk, p.Model.APIKeyEnv, p.Retry, p.NotesHome}
	want := []any{"p", "42", "max", "base", "SETTINGS_KEY", profile.Retry{MaxRetries: 2, MaxRetryAfter: 4 * time.Second}, filepath.Join(w.env["HOME"], "my notes")}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	settings := "user settings " + filepath.Join(w.dir, "config/settings.toml")
	for key, origin := range map[string]string{
		"model.name": "--model", "limits.max_turns": "--max-turns", "model.effort": "-c", "model.quirk": ".tureen/profiles/b.toml:4",
		"model.api_key_env": settings + ":5", "notes_home": settings + ":2", "model.max_output_tokens": "default",
	} {
		if got := p.Origins[key].String(); got != origin {
			t.Errorf("origin of %s = %q, want %q", key, got, origin)
		}
	}
}

func TestBaseURLFromTheEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["OPENAI_BASE_URL"] = "http://127.0.0.1:1234/v1"
	p := w.load("base")
	if p.Model.BaseURL != w.env["OPENAI_BASE_URL"] || p.Origins["model.base_url"].String() != "env OPENAI_BASE_URL" {
		t.Errorf("base_url %q from %v", p.Model.BaseURL, p.Origins["model.base_url"])
	}
	w.write("p.toml", "schema = 1\n[model]\nbase_url = \"http://profile/v1\"\n")
	if got := w.load("./p.toml").Model.BaseURL; got != "http://profile/v1" {
		t.Errorf("the profile names one, and got %q", got)
	}
	if m := w.load("base", "model.provider=scripted").Model; m.BaseURL != "" || m.APIKeyEnv != "" || m.Name != "scripted-rules" {
		t.Errorf("the scripted model has %+v", m)
	}

	w.env["OPENAI_BASE_URL"] = "https://me:hunter2@host"
	_, err := profile.Load("base", w.options())
	if got := problems(t, err); len(got) != 1 || !strings.HasPrefix(got[0], "env OPENAI_BASE_URL: model.base_url: this value") || strings.Contains(got[0], "hunter2") {
		t.Errorf("got %v", got)
	}
	if _, err := profile.Load("./p.toml", w.options()); err != nil {
		t.Errorf("a bad variable that is not used: %v", err)
	}
}

// A price goes with its model and never to another one.
func TestPriceGoesWithItsModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.toml", `schema = 1
[model]
name = "a"
[price]
input = 1
output = 2
`)
	if w.load("./p.toml", "model.effort=low").Price == nil || w.load("./p.toml", "model.name=a").Price == nil {
		t.Error("the price of the same model got lost")
	}
	p := w.load("./p.toml", "model.name=b")
	if p.Price != nil || len(p.Warnings) != 1 ||
		p.Warnings[0].Error() != `p.toml:4:2: price: this price is not used, "b" (-c) is another model; write a [price] where the model is named` {
		t.Errorf("price %+v, warnings %v", p.Price, p.Warnings)
	}
	_, err := profile.Load("./p.toml", w.options("model.name=b", "limits.max_cost_usd=1"))
	if got := problems(t, err); len(got) != 1 || !strings.Contains(got[0], `the [price] at p.toml:4 belongs to another model; write one for "b"`) {
		t.Errorf("got %v", got)
	}
	if p := w.load("./p.toml", "model.name=b", "price.input=3", "price.output=4"); p.Price == nil || p.Price.Input != 3 || len(p.Warnings) != 0 {
		t.Errorf("price %+v, warnings %v", p.Price, p.Warnings)
	}
}

func TestNotesHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.load("base").NotesHome; got != filepath.Join(w.env["HOME"], ".agents/notes") {
		t.Errorf("default notes_home = %q", got)
	}
	w.write(".tureen/profiles/p.toml", "schema = 1\nnotes_home = \"/tmp/x\"\n")
	for _, name := range []string{"p", ".tureen/profiles/p.toml"} {
		_, err := profile.Load(name, w.options())
		want := `.tureen/profiles/p.toml:2:1: notes_home: this key may not stand in a project's profile; allowed: a profile of the user's own, settings.toml, -c`
		if got := problems(t, err); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	w.write("config/profiles/mine.toml", "schema = 1\nnotes_home = \"notes\"\n")
	if got := w.load("mine").NotesHome; got != filepath.Join(w.dir, "config/profiles/notes") {
		t.Errorf("relative notes_home = %q", got)
	}
	w.env["TUREEN_NOTES_HOME"] = "/env/notes"
	if p := w.load("mine"); p.NotesHome != "/env/notes" || p.Origins["notes_home"].String() != "env TUREEN_NOTES_HOME" {
		t.Errorf("notes_home = %q from %v", p.NotesHome, p.Origins["notes_home"])
	}
	if got := w.load("mine", "notes_home=here").NotesHome; got != filepath.Join(w.dir, "here") {
		t.Errorf("notes_home by -c = %q", got)
	}
}

func TestN3_AgentNamePerProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.toml", "schema = 1\nagent_name = \"reviewer\"\n")
	if a, b := w.load("base").AgentName, w.load("./p.toml").AgentName; a != "tureen" || b != "reviewer" {
		t.Errorf("agent names %q and %q", a, b)
	}
	w.write("p.toml", "schema = 1\nagent_name = \"../human\"\n")
	_, err := profile.Load("./p.toml", w.options())
	if got := problems(t, err); len(got) != 1 || got[0] != `p.toml:2:1: agent_name: found text "../human"; allowed: a name of a-z, 0-9, _ and -` {
		t.Errorf("got %v", got)
	}
}

func TestPathsAreRelativeToTheirFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, f := range []string{"deep/tool.sh", "tool.sh", "home/tool.sh"} {
		w.write(f, "#!/bin/sh\n")
	}
	w.write("deep/p.toml", "schema = 1\n[[plugins]]\nuse = \"./tool.sh\"\n[[plugins]]\nuse = \"~/tool.sh\"\n[[plugins]]\nuse = \"../tool.sh\"\n")
	p := w.load("deep/p.toml", "compaction.strategy=./tool.sh")
	got := []string{p.Compaction.Strategy, p.Plugins[0].Use, p.Plugins[1].Use, p.Plugins[2].Use}
	want := []string{w.dir + "/tool.sh", w.dir + "/deep/tool.sh", w.dir + "/home/tool.sh", w.dir + "/tool.sh"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("config/profiles/base.toml", "schema = 1\n[model]\nname = \"user\"\n")
	if p := w.load("base"); p.Model.Name != "user" || p.Project {
		t.Errorf("user's before the shipped: %q", p.Model.Name)
	}
	w.write(".tureen/profiles/base.toml", "schema = 1\n[model]\nname = \"far\"\n")
	w.write("a/.tureen/profiles/base.toml", "schema = 1\n[model]\nname = \"near\"\n")
	o := w.options()
	o.Dir = filepath.Join(w.dir, "a/.tureen")
	for dir, want := range map[string]string{"a/.tureen": "near", "a": "near", ".": "far"} {
		o.Dir = filepath.Join(w.dir, dir)
		p, err := profile.Load("base", o)
		if err != nil || p.Model.Name != want || !p.Project {
			t.Errorf("in %s: %v %v, want %s", dir, p, err, want)
		}
	}

	_, err := profile.Load("bsae", w.options())
	var missing *profile.NotFoundError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) || missing.Nearest != "base" || !slices.Equal(missing.Names, []string{"base", "child"}) {
		t.Fatalf("error = %v (%T)", err, err)
	}
	if got := err.Error(); got != `no profile "bsae"; did you mean "base"?; there are: base, child` {
		t.Errorf("error = %s", got)
	}
	for _, name := range []string{"./gone.toml", "gone.toml", "../base", "", "."} {
		if _, err := profile.Load(name, w.options()); !errors.As(err, &missing) && name != "." {
			t.Errorf("%q: %v", name, err)
		}
	}
	w.write("dir.toml/x", "")
	_, err = profile.Load("dir.toml", w.options())
	if got := problems(t, err); got[0] != "dir.toml: cannot be read: it is not a regular file (d---------)" {
		t.Errorf("got %v", got)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(".tureen/profiles/broken.toml", "schema = 1\nnoise = 1\n")
	w.write(".tureen/profiles/notes.txt", "")
	w.write("config/profiles/child.toml", "schema = 1\ndescription = \"mine\"\n[compaction]\nstrategy = \"prune\"\n")
	entries, err := profile.List(w.options("model.provider=nonsense"))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 3 {
		t.Fatalf("got %+v", entries)
	}
	for i := range entries {
		if (entries[i].Profile == nil) != (entries[i].Err != nil) {
			t.Errorf("%s: profile %v, error %v", entries[i].Name, entries[i].Profile, entries[i].Err)
		}
		entries[i].Profile = nil
	}
	want := []profile.Entry{
		{Name: "base", Description: "the base", Path: "profiles/base.toml", Strategy: "none"},
		{Name: "broken", Path: ".tureen/profiles/broken.toml", Project: true, Err: entries[1].Err},
		{Name: "child", Description: "mine", Path: "config/profiles/child.toml", Strategy: "prune"},
	}
	if !reflect.DeepEqual(entries, want) || entries[1].Err == nil {
		t.Errorf("got  %+v\nwant %+v", entries, want)
	}
}

func TestByteOrderMarkAndCRLF(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.toml", "\xef\xbb\xbfschema = 1\r\n[model]\r\nname = \"x\"\r\n\r\n[prompt]\r\npersona_prefix = \"\"\"a\r\nb\"\"\"\r\n")
	p := w.load("./p.toml")
	if p.Model.Name != "x" || p.Origins["model.name"] != (profile.Origin{File: "p.toml", Line: 3, Column: 1}) {
		t.Errorf("name %q at %+v", p.Model.Name, p.Origins["model.name"])
	}
}

func TestCapabilitiesAreTheOnesThatPluginsAskFor(t *testing.T) {
	t.Parallel()
	for _, c := range []sdk.Capability{sdk.CapSessionRead, sdk.CapSessionSteer, sdk.CapSessionSpawn, sdk.CapUserAsk, sdk.CapModelGenerate, sdk.CapRecordsWrite} {
		if !slices.Contains(profile.Capabilities, string(c)) {
			t.Errorf("%s cannot be denied", c)
		}
	}
}
