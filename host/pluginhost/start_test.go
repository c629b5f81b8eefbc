package pluginhost_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/pluginhost"
)

// script writes an executable file.
func script(t *testing.T, mode os.FileMode, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plug")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartErrorsNameTheFix(t *testing.T) {
	h := newHouse(t, pluginhost.Options{Deadlines: pluginhost.Deadlines{Handshake: 2 * time.Second}})
	program := func(argv ...string) pluginhost.Spec {
		return pluginhost.Spec{Name: "plug", Argv: argv, Origin: "profile.toml:12"}
	}
	cases := map[string]struct {
		spec pluginhost.Spec
		want []string
	}{
		"no file":            {program("/nowhere/plug"), []string{"there is no file /nowhere/plug", "check the path"}},
		"not in PATH":        {program("no-such-program-at-all"), []string{`program "no-such-program-at-all" is not in PATH`}},
		"not executable":     {program(script(t, 0o644, "#!/bin/sh\n")), []string{"may not be executed", "chmod +x"}},
		"no interpreter":     {program(script(t, 0o755, "#!/nowhere/python9\n")), []string{"interpreter /nowhere/python9 is missing", "install it"}},
		"no shebang":         {program(script(t, 0o755, "hello\n")), []string{"#! line"}},
		"no Python module":   {program(script(t, 0o755, "#!/usr/bin/python3\nimport grpcx_none\n")), []string{"exit status 1", "python3-grpcio", "stderr: "}},
		"silent":             {spec("silent"), []string{"no handshake line on stdout within 2s"}},
		"banner":             {spec("banner"), []string{`first line on stdout is "Welcome to my plugin!"`, "stderr"}},
		"long line":          {spec("longline"), []string{"its first line on stdout is"}},
		"version":            {spec("version"), []string{"protocol version 7", "this host speaks 1"}},
		"tcp":                {spec("tcp"), []string{"tcp 127.0.0.1:1", "Unix socket"}},
		"netrpc":             {spec("netrpc"), []string{"does not name grpc"}},
		"foreign socket":     {spec("outside"), []string{"/tmp/nothing", "PLUGIN_UNIX_SOCKET_DIR"}},
		"exit":               {spec("exit"), []string{"exit status 3", "stderr: no licence for today"}},
		"no cookie":          {spec("nocookie"), []string{"exit status 1", "plugin inspect"}},
		"start fails":        {spec("start"), []string{"the moon is in the wrong phase"}},
		"exit in Initialize": {spec("initexit"), []string{"exit status 5", "lost my keys"}},
	}
	t.Parallel() // not before the scripts are written: a fork would keep them open
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := h.Start(t.Context(), c.spec)
			var failed *pluginhost.StartError
			if !errors.As(err, &failed) {
				t.Fatalf("not a StartError: %v", err)
			}
			for _, want := range append(c.want, "profile.toml:12") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it does not say %q: %v", want, err)
				}
			}
		})
	}
}

func TestASlowStartIsNoFailure(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	must(t, h.one(spec("slow")), "echo", "")
}

func TestAStartCanBeCancelled(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := h.Start(ctx, spec("silent")); !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v", err)
	}
}

func TestConfigErrorsNamePlaceAndKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	for config, want := range map[string][]string{
		`{"limt":3}`:                 {"profile.toml:12", `/limt: unknown key "limt"`, `did you mean "limit"?`, "known: limit, mode, nested"},
		`{"limit":"three"}`:          {"/limit", "integer", "string"},
		`{"limit":0,"mode":"lazy"}`:  {"/limit", "/mode", `"fast", "slow"`},
		`{"nested":{"nam":"x"}}`:     {"/nested", `did you mean "name"?`, "missing"},
		`{"zzz":1,"nested":{"q":1}}`: {`unknown key "zzz"`, `/nested/q: unknown key "q"`},
		`[]`:                         {"not a table"},
		`{"limit"`:                   {"not JSON"},
	} {
		s := spec("none")
		s.Config = []byte(config)
		_, err := h.Start(t.Context(), s)
		var bad *pluginhost.ConfigError
		if !errors.As(err, &bad) {
			t.Errorf("%s: not a ConfigError: %v", config, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: it does not say %q: %v", config, w, err)
			}
		}
	}
	s := spec("none")
	s.Config = []byte(`{"limit":1,"mode":"slow","nested":{"name":"x"}}`)
	if _, err := h.Start(t.Context(), s); err != nil {
		t.Errorf("a good config: %v", err)
	}
}

func TestM25_NoKeyReachesAPlugin(t *testing.T) {
	t.Parallel()
	const canary = "canary-5f1c"
	h := newHouse(t, pluginhost.Options{
		SecretEnv: []string{"MY_MODEL"},
		Env: []string{"OPENAI_API_KEY=" + canary, "MY_MODEL=" + canary, "GH_TOKEN=" + canary, "DATABASE_URL=postgres://u:" + canary + "@db/x",
			"AWS_SECRET=" + canary, "DB_PASSWORD=" + canary, "EDITOR=vi", "HOME=/home/u", "LANG=C.UTF-8", "HTTP_PROXY=http://proxy:3128"},
	})
	plain := must(t, h.one(spec("none")), "env", "")
	for _, want := range []string{"LANG=C.UTF-8", "PATH=", "HOME=" + h.base, "TMPDIR=" + h.base} {
		if !strings.Contains(plain, want) {
			t.Errorf("%s is missing from:\n%s", want, plain)
		}
	}
	for _, not := range []string{canary, "EDITOR", "/home/u", "TUREEN_PLUGIN", "PLUGIN_"} {
		if strings.Contains(plain, not) {
			t.Errorf("%s stands in the environment:\n%s", not, plain)
		}
	}

	users := newHouse(t, pluginhost.Options{SecretEnv: []string{"MY_MODEL"}, Env: []string{"OPENAI_API_KEY=" + canary, "MY_MODEL=" + canary,
		"GITHUB_PAT=" + canary, "PAT=" + canary, "PAT_READ=" + canary, "REGISTRY_AUTH=" + canary, "SSH_AUTH_SOCK=/run/agent.1", "PATTERN=kept",
		"DATABASE_URL=postgres://u:" + canary + "@db/x", "EDITOR=vi", "HOME=/home/u", "HTTP_PROXY=http://proxy:3128", "PWD=/here"}})
	s := spec("none")
	s.UserEnv = true
	shell := must(t, users.one(s), "env", "")
	for _, want := range []string{"EDITOR=vi", "HOME=/home/u", "HTTP_PROXY=http://proxy:3128", "SSH_AUTH_SOCK=/run/agent.1", "PATTERN=kept"} {
		if !strings.Contains(shell, want) {
			t.Errorf("%s is missing from the user's environment:\n%s", want, shell)
		}
	}
	if strings.Contains(shell, canary) {
		t.Errorf("a key stands in the user's environment:\n%s", shell)
	}

	s = spec("none")
	s.Env = append(s.Env, "MY_MODEL="+canary)
	if _, err := h.Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), "MY_MODEL") || strings.Contains(err.Error(), canary) {
		t.Errorf("a key in the plugin's own env: %v", err)
	}
}

func TestAPluginRunsInItsDirectory(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	if got := must(t, h.one(spec("none")), "where", ""); !strings.HasPrefix(got, h.base) {
		t.Errorf("without Dir: %s", got)
	}
	other := newHouse(t, pluginhost.Options{})
	s := spec("none")
	s.Dir = t.TempDir()
	if got := must(t, other.one(s), "where", ""); got != s.Dir {
		t.Errorf("with Dir: %s", got)
	}
}
