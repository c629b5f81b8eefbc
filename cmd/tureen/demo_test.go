package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host"
)

const demoTask = `Read every file in logs in order and report each line that starts with "Finding:".`

// demo is a user with a copy of testdata/demo as the working directory.
func demo(t *testing.T) *sandbox {
	t.Helper()
	u := user(t)
	if err := os.CopyFS(u.path("demo"), os.DirFS("../../testdata/demo")); err != nil {
		t.Fatal(err)
	}
	return u
}

// findings are the facts of the sample files, by file: what the report must say.
func findings(t *testing.T, u *sandbox) map[string]string {
	t.Helper()
	files, err := filepath.Glob(u.path("demo", "logs", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sample files: %v", err)
	}
	facts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if fact, ok := strings.CutPrefix(line, "Finding:"); ok {
				facts["logs/"+filepath.Base(file)] = strings.TrimSpace(fact)
			}
		}
	}
	if len(facts) != len(files) {
		t.Fatalf("%d of %d sample files hold a finding", len(facts), len(files))
	}
	return facts
}

// runDemo runs the task and returns the result with what stderr said.
func runDemo(t *testing.T, u *sandbox, args ...string) (host.Result, outcome) {
	t.Helper()
	args = append([]string{"run", "-C", u.path("demo"), "-o", "json"}, args...)
	o := u.ok(t, append(args, demoTask)...)
	var r host.Result
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatalf("%v in %s", err, o.stdout)
	}
	if r.Status != "completed" || r.ExitCode != 0 || r.Error != nil {
		t.Fatalf("status %q, exit code %d, error %+v\n%s", r.Status, r.ExitCode, r.Error, o.stderr)
	}
	return r, o
}

// checkReport wants every finding in the text, those included that stood only in
// files read before the first compaction, and tells how many those are.
func checkReport(t *testing.T, u *sandbox, r host.Result, stderr string) {
	t.Helper()
	facts := findings(t, u)
	for file, fact := range facts {
		if !strings.Contains(r.Text, fact) {
			t.Errorf("the report lacks the finding of %s: %s", file, fact)
		}
	}
	before, _, found := strings.Cut(stderr, "#1 ")
	old := 0
	for file := range facts {
		if strings.Contains(before, file) {
			old++
		}
	}
	if !found || old == 0 {
		t.Errorf("no file was read before the first compaction:\n%s", stderr)
	}
	for _, c := range r.Compactions {
		line := fmt.Sprintf(`(?m)^%s #%d %s \S+→\S+ tokens, %d ms, %d model calls?\b.*$`, c.Kind, c.Ordinal, regexp.QuoteMeta(c.Strategy), c.Millis, c.ModelCalls)
		if !regexp.MustCompile(line).MatchString(stderr) {
			t.Errorf("no line %s on stderr:\n%s", line, stderr)
		}
		if c.TokensAfter >= c.TokensBefore {
			t.Errorf("compaction #%d: %d tokens became %d", c.Ordinal, c.TokensBefore, c.TokensAfter)
		}
	}
}

// checkSession wants the session listed, and its log to hold to the rules.
func checkSession(t *testing.T, u *sandbox, r host.Result) {
	t.Helper()
	var list []struct{ ID, Status string }
	if err := json.Unmarshal([]byte(u.ok(t, "session", "list", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].ID != r.Session || list[0].Status != "completed" {
		t.Errorf("session list: %+v", list)
	}
	if o := u.ok(t, "session", "verify", r.Session); !strings.Contains(o.stdout, " ok, ") {
		t.Errorf("session verify: %s", o.stdout)
	}
}

func kinds(r host.Result) []string {
	var kinds []string
	for _, c := range r.Compactions {
		kinds = append(kinds, c.Kind)
	}
	return kinds
}

// Under notesoup the window overflows several times; each time the agent gets a
// fresh notebook, without a model call, and still knows everything at the end.
func TestDemoUnderNotesoup(t *testing.T) {
	t.Parallel()
	u := demo(t)
	r, o := runDemo(t, u, "-P", "demo")
	if len(r.Compactions) < 2 || slices.ContainsFunc(kinds(r), func(k string) bool { return k != "reset" }) {
		t.Errorf("compactions %v, want at least two resets", kinds(r))
	}
	if r.ModelCalls.Compaction != 0 {
		t.Errorf("%d model calls for compactions", r.ModelCalls.Compaction)
	}
	checkReport(t, u, r, o.stderr)
	checkSession(t, u, r)

	if o := u.ok(t, "notes", "show"); !strings.Contains(o.stdout, ".md") {
		t.Errorf("notes show: %s", o.stdout)
	}
}

func TestDemoUnderSummary(t *testing.T) {
	t.Parallel()
	u := demo(t)
	r, o := runDemo(t, u, "-P", "demo", "-c", "compaction.strategy=summary")
	if len(r.Compactions) == 0 || r.ModelCalls.Compaction < 1 || r.ModelCalls.Compaction != len(r.Compactions) {
		t.Errorf("compactions %v with %d model calls", kinds(r), r.ModelCalls.Compaction)
	}
	checkReport(t, u, r, o.stderr)
	checkSession(t, u, r)
}

// A strategy in another language, named by its path.
func TestDemoUnderAPythonStrategy(t *testing.T) {
	t.Parallel()
	u := demo(t)
	path, err := filepath.Abs("../../plugins/examples/python/headlines.py")
	if err != nil {
		t.Fatal(err)
	}
	r, o := runDemo(t, u, "-P", "demo", "-c", "compaction.strategy="+path)
	if len(r.Compactions) == 0 || r.ModelCalls.Compaction != 0 {
		t.Errorf("compactions %v with %d model calls", kinds(r), r.ModelCalls.Compaction)
	}
	checkReport(t, u, r, o.stderr)
	checkSession(t, u, r)
}

// The profile for real endpoints, against one on loopback.
func TestNotesoupAgainstAnEndpoint(t *testing.T) {
	t.Parallel()
	u := demo(t)
	u.env = append(u.env, "OPENAI_BASE_URL="+serveModel(t, u, "--window", "32000", "--max-output", "2000"), "OPENAI_API_KEY=any")
	r, o := runDemo(t, u, "-P", "notesoup", "-c", "model.max_output_tokens=2000")
	if len(r.Compactions) < 2 || r.ModelCalls.Compaction != 0 {
		t.Errorf("compactions %v with %d model calls", kinds(r), r.ModelCalls.Compaction)
	}
	checkReport(t, u, r, o.stderr)
	checkSession(t, u, r)
}

// What is taken out of the files is not in the report: the agent knows nothing
// but what it is shown.
func TestTheReportSaysNothingThatWasNotRead(t *testing.T) {
	t.Parallel()
	u := demo(t)
	facts := findings(t, u)
	file := u.path("demo", "logs", "003.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := strings.ReplaceAll(string(text), "Finding: "+facts["logs/003.md"], "Nothing further.")
	if err := os.WriteFile(file, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := runDemo(t, u, "-P", "demo")
	if strings.Contains(r.Text, facts["logs/003.md"]) {
		t.Errorf("the report has a finding that stands nowhere: %s", facts["logs/003.md"])
	}
	if !strings.Contains(r.Text, facts["logs/002.md"]) {
		t.Errorf("the report lacks the finding of its neighbour")
	}
}

// serveModel starts the scripted model for the rest of the test and returns its
// base URL.
func serveModel(t *testing.T, u *sandbox, args ...string) string {
	t.Helper()
	cmd := u.command(append([]string{"model", "serve"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("model serve: %v", err)
		}
	})
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url)
}
