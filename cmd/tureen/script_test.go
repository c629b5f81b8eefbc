package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script: the specification of the command line.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:         setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits,
			"serve": cmdServe,
			"json":  cmdJSON,
			"keys":  cmdKeys,
			"lines": cmdLines,
		},
	})
}

// setUpScript gives each script a user of its own and checks afterwards that
// nothing was left behind.
func setUpScript(env *testscript.Env) error {
	s, err := newSandbox()
	if err != nil {
		return err
	}
	for _, pair := range s.env {
		name, value, _ := strings.Cut(pair, "=")
		env.Setenv(name, value)
	}
	env.Setenv("BOX", s.dir)
	env.Defer(func() {
		defer os.RemoveAll(s.dir)
		if left := s.leftovers(); left != "" {
			env.T().Log("left behind:\n" + left)
			env.T().FailNow()
		}
	})
	return nil
}

// exits CODE PROGRAM ARGS… runs a program that must end with that code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// serve ARGS… starts `tureen model serve` for the rest of the script and puts its
// address into OPENAI_BASE_URL.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command(binary, append([]string{"model", "serve"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME")}
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			ts.Logf("model serve ended with %v", err)
		}
	})
	url, err := bufio.NewReader(stdout).ReadString('\n')
	ts.Check(err)
	ts.Setenv("OPENAI_BASE_URL", strings.TrimSpace(url))
	ts.Setenv("OPENAI_API_KEY", "any")
}

// json PATH VALUE compares a value of the JSON on stdout: json error.code USAGE.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	got := shown(at(ts, args[0]))
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}

// keys PATH KEY… says which keys an object of the JSON on stdout has.
func cmdKeys(ts *testscript.TestScript, neg bool, args []string) {
	object, ok := at(ts, args[0]).(map[string]any)
	if !ok || neg {
		ts.Fatalf("%s is no object", args[0])
	}
	got := make([]string, 0, len(object))
	for key := range object {
		got = append(got, key)
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(args[1:]))
	if !slices.Equal(got, want) {
		ts.Fatalf("%s has the keys %v, want %v", args[0], got, want)
	}
}

// lines FILE KEY… names the value of a key, line by line, in a stream of events,
// each of which must be as the schema says: lines stdout type session.started turn.started.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	var got []string
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var v map[string]any
		ts.Check(json.Unmarshal([]byte(line), &v))
		ts.Check(fits(v))
		got = append(got, shown(v[args[1]]))
	}
	if neg || !slices.Equal(got, args[2:]) {
		ts.Fatalf("%s of the lines: %s", args[1], strings.Join(got, " "))
	}
}

// at follows a path such as compactions.0.kind into the JSON on stdout; "." is
// all of it.
func at(ts *testscript.TestScript, path string) any {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	if path == "." {
		return v
	}
	for _, key := range strings.Split(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(in) {
				ts.Fatalf("%s: no item %s in a list of %d", path, key, len(in))
			}
			v = in[i]
		default:
			ts.Fatalf("%s: %s is in no object or list", path, key)
		}
	}
	return v
}

func shown(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		return fmt.Sprintf("list of %d", len(v))
	}
	return fmt.Sprint(v)
}
