package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/profile"
)

// A path in a plugin's config belongs to whoever wrote it: the profile, the one that it
// extends, the user's settings or the command line.
func TestAPathInAConfigIsRelativeToTheFileThatNamesIt(t *testing.T) {
	dir := t.TempDir()
	work, config := filepath.Join(dir, "work"), filepath.Join(dir, "config")
	t.Setenv("HOME", dir)
	for path, text := range map[string]string{
		filepath.Join(config, "profiles", "low.toml"): "schema = 1\n[compaction]\nstrategy = \"summary\"\n[compaction.summary]\nprompt_file = \"low.md\"\n",
		filepath.Join(config, "profiles", "own.toml"): "schema = 1\nextends = \"low\"\n[compaction.summary]\nprompt_file = \"sub/own.md\"\n[[plugins]]\nuse = \"shell\"\nconfig = { file = \"row.md\" }\n",
		filepath.Join(config, "profiles", "up.toml"):  "schema = 1\nextends = \"low\"\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, key, path, want string
		overrides             []string
		plugin                int
	}{
		{name: "own", key: "prompt_file", path: "sub/own.md", want: filepath.Join(config, "profiles", "sub", "own.md"), plugin: 1},
		{name: "own", key: "file", path: "row.md", want: filepath.Join(config, "profiles", "row.md")},
		{name: "up", key: "prompt_file", path: "low.md", want: filepath.Join(config, "profiles", "low.md")},
		{name: "up", key: "prompt_file", path: "here.md", want: filepath.Join(work, "here.md"), overrides: []string{"compaction.summary.prompt_file=here.md"}},
		{name: "up", key: "prompt_file", path: "~/home.md", want: filepath.Join(dir, "home.md")},
		{name: "up", key: "prompt_file", path: "/abs.md", want: "/abs.md"},
	} {
		p, err := profile.Load(c.name, profile.Options{Dir: work, ConfigDir: config, Overrides: c.overrides})
		if err != nil {
			t.Fatal(err)
		}
		specs, err := host.PluginSpecs(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := specs[c.plugin].Path(c.key, c.path); got != c.want {
			t.Errorf("%s %v: %s is %s, want %s", c.name, c.overrides, c.path, got, c.want)
		}
	}
}
