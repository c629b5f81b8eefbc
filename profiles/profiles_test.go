package profiles_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/profiles"
)

func options(t *testing.T, overrides ...string) profile.Options {
	t.Helper()
	home := t.TempDir()
	return profile.Options{
		Dir: home, Embedded: profiles.FS, Overrides: overrides,
		Env: func(name string) string { return map[string]string{"HOME": home}[name] },
	}
}

func uses(p *profile.Profile) []string {
	var names []string
	for _, row := range p.Plugins {
		names = append(names, row.Use)
	}
	return names
}

func TestEveryShippedProfileLoads(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(profiles.FS, "*.toml")
	if err != nil {
		t.Fatal(err)
	}
	strategies := map[string]string{"base": "none", "demo": "notesoup", "habits": "notesoup", "none": "none", "notesoup": "notesoup", "notesoup-strict": "notesoup",
		"prune": "prune", "summary": "summary", "truncate": "truncate"}
	if len(files) != len(strategies) {
		t.Errorf("there are %d profiles, this test knows %d", len(files), len(strategies))
	}
	for _, f := range files {
		name := strings.TrimSuffix(f, ".toml")
		p, err := profile.Load(name, options(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Compaction.Strategy != strategies[name] {
			t.Errorf("%s has strategy %q, want %q", name, p.Compaction.Strategy, strategies[name])
		}
		want := []string{"policy", "files", "search", "shell", "instructions", "planning", "guards", "ask", "web", "subagents", "schedule"}
		if name == "demo" {
			want = want[:4]
		}
		if !slices.Equal(uses(p), want) {
			t.Errorf("%s starts %v, want %v", name, uses(p), want)
		}
		if p.Description == "" || p.Project || len(p.Warnings) > 0 || p.Path != "profiles/"+f {
			t.Errorf("%s: description %q, project %v, warnings %v, path %q", name, p.Description, p.Project, p.Warnings, p.Path)
		}
		if p.Model.Provider != "scripted" && (p.Model.Provider != "openai" || p.Model.Name != "auto" || p.Model.ContextWindow != 0 ||
			p.Model.MaxOutputTokens != 8192 || p.Model.APIKeyEnv != "OPENAI_API_KEY") {
			t.Errorf("%s: model %+v", name, p.Model)
		}
	}
}

func TestDemoNeedsNoKeyAndNoNetwork(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("demo", options(t))
	if err != nil {
		t.Fatal(err)
	}
	want := profile.Model{Provider: "scripted", Name: "scripted-rules", ContextWindow: 32000, MaxOutputTokens: 2000, SystemUpdate: "rewrite"}
	got := p.Model
	if got.Params != nil || got.BaseURL != want.BaseURL || got.APIKeyEnv != want.APIKeyEnv || got.Provider != want.Provider ||
		got.Name != want.Name || got.ContextWindow != want.ContextWindow || got.MaxOutputTokens != want.MaxOutputTokens {
		t.Errorf("model = %+v, want %+v", got, want)
	}
	if got := string(p.Compaction.Config); got != `{"carry":"request"}` {
		t.Errorf("notesoup config = %s", got)
	}
}

// Another strategy by -c: the table of the first must not be in the way.
func TestAnotherStrategyByOverride(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"summary", "prune", "truncate", "none"} {
		p, err := profile.Load("demo", options(t, "compaction.strategy="+strategy))
		if err != nil {
			t.Errorf("%s: %v", strategy, err)
			continue
		}
		if p.Compaction.Strategy != strategy || string(p.Compaction.Config) != "{}" || len(p.Warnings) > 0 {
			t.Errorf("strategy %q, config %s, warnings %v", p.Compaction.Strategy, p.Compaction.Config, p.Warnings)
		}
	}
}
