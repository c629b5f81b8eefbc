package pluginhost_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/pluginhost"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plug.py", "#!/bin/sh\n", 0o755)
	write("plain", "", 0o644)
	write("full/plugin.toml", "name = \"full\"\nargv = [\"./run\", \"-x\"]\nenv = { B = \"2\", A = \"1\" }\n", 0o644)
	write("odd/plugin.toml", "name = \"odd\"\nargv = [\"run\"]\ncolour = 1\n", 0o644)
	write("thin/plugin.toml", "name = \"thin\"\n", 0o644)
	write("empty/x", "", 0o644)

	for use, want := range map[string]pluginhost.Spec{
		"files":          {Name: "files", Argv: []string{"me", "-q", "plugin-serve", "files"}},
		dir + "/plug.py": {Name: "plug", Argv: []string{dir + "/plug.py"}, Dir: dir},
		dir + "/full":    {Name: "full", Argv: []string{dir + "/full/run", "-x"}, Env: []string{"A=1", "B=2"}, Dir: dir + "/full"},
	} {
		got, err := pluginhost.Resolve(use, []string{"me", "-q"})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", use, got, err)
		}
	}
	for use, want := range map[string]string{
		"/none":  "no such file",
		"/plain": "chmod +x",
		"/odd":   "name, argv and env",
		"/thin":  "needs name and argv",
		"/empty": "plugin.toml",
	} {
		if _, err := pluginhost.Resolve(dir+use, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", use, err)
		}
	}
	if self, err := pluginhost.Resolve("files", nil); err != nil || !filepath.IsAbs(self.Argv[0]) {
		t.Errorf("the running program: %v %v", self.Argv, err)
	}
}
