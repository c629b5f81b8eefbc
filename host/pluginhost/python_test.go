package pluginhost_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// python resolves an example plugin. The test fails, and does not skip, where
// the machine cannot run it: the protocol must not bend to Go.
func python(t *testing.T, name, config string) pluginhost.Spec {
	t.Helper()
	if out, err := exec.Command("/usr/bin/python3", "-c", "import grpc, google.protobuf").CombinedOutput(); err != nil {
		t.Fatalf("/usr/bin/python3 has no gRPC: install the packages python3-grpcio and python3-protobuf: %v\n%s", err, out)
	}
	s, err := pluginhost.Resolve("../../plugins/examples/python/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Config = json.RawMessage(config)
	return s
}

func TestPythonToolsPlugin(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.one(python(t, "wordcount.py", `{"min_length":3}`))
	workspace := t.TempDir()
	if err := os.WriteFile(filepath.Join(workspace, "a.txt"), []byte("one two\nto three é\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := i.OpenSession(t.Context(), compaction.Session{ID: "s", Workspace: workspace}); err != nil {
		t.Fatal(err)
	}
	specs, err := i.Tools().Tools(t.Context(), "s")
	if err != nil || len(specs) != 1 || specs[0].Name != "word_count" || !specs[0].Parallel || specs[0].Timeout == 0 {
		t.Fatalf("tools %+v, error %v", specs, err)
	}
	count := func(path string) tool.Result {
		t.Helper()
		args, _ := json.Marshal(map[string]string{"path": path})
		r, err := i.Tools().Call(t.Context(), tool.Call{Session: "s", ID: "c", Name: "word_count", Arguments: args}, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return r
	}
	if got := count("a.txt"); got.IsError || got.Text != "a.txt: 2 lines, 3 words, 19 characters" {
		t.Errorf("a.txt: %+v", got)
	}
	for _, path := range []string{"none.txt", "../outside.txt"} {
		if got := count(path); !got.IsError || !strings.HasPrefix(got.Text, "Error: ") {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if _, err := h.Start(t.Context(), python(t, "wordcount.py", `{"min_len":3}`)); err == nil || !strings.Contains(err.Error(), `did you mean "min_length"?`) {
		t.Errorf("a config with a wrong key: %v", err)
	}
}

func TestPythonStrategyKeepsRequestsHeadlinesAndFindings(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.one(python(t, "headlines.py", `{"head_chars":400,"tail_tokens":3000}`))
	s := compactiontest.New(t, "headlines", "You read log books.")
	s.Budget = compaction.Budget{Window: 32000, ResetAt: 24000}
	h.lent["s1"] = s
	if err := i.OpenSession(t.Context(), s.Opened()); err != nil {
		t.Fatal(err)
	}
	s.Open(i.Strategy())

	request := "Read every file.\n\n  Report \"Finding:\" lines — all of them."
	s.Turn()
	s.User(session.SourceOwner, request)
	s.User(session.SourceContext, "It is noon.")
	for n := 1; n <= 30; n++ {
		if n == 7 {
			s.User(session.SourceSteer, "Do not skip any.")
		}
		s.Exchange(fmt.Sprintf("call_%d", n), "read", fmt.Sprintf(`{"file_path":"logs/%03d.md"}`, n), page(n))
		if n%10 != 0 {
			continue
		}
		p := s.Compact(i.Strategy(), s.Input(session.TriggerPressure))
		if len(p.Edits) != 1 || p.Kind != compaction.KindSummary {
			t.Fatalf("after %d files: %+v", n, p)
		}
		text := ""
		for _, m := range s.Messages() {
			text += m.Text() + "\n"
		}
		for _, want := range []string{request, "Do not skip any.", fmt.Sprintf(`=== read {"file_path":"logs/%03d.md"} ===`, n/2)} {
			if strings.Count(text, want) != 1 {
				t.Errorf("after %d files, %q stands %d times", n, want, strings.Count(text, want))
			}
		}
		for k := 1; k <= n; k++ {
			if got := strings.Count(text, fmt.Sprintf("Finding: fact number %d.", k)); got != 1 {
				t.Errorf("after %d files, finding %d stands %d times", n, k, got)
			}
		}
		if strings.Contains(text, "It is noon") {
			t.Error("the runtime context is taken for a request")
		}
		if first := s.Messages()[1].Text(); len(first) > 24000*3/4 {
			t.Errorf("after %d files the message has %d characters", n, len(first))
		}
	}
	// nothing to gain where all that could go is the message itself
	idle := compactiontest.New(t, "headlines", "x")
	idle.User(session.SourceOwner, "hello")
	h.lent["s1"] = idle
	if p := idle.Compact(i.Strategy(), idle.Input(session.TriggerManual)); !p.IsZero() {
		t.Errorf("one short message: %+v", p)
	}
}

// page is a file as a tool prints it: long, with a finding deep inside.
func page(n int) string {
	var b strings.Builder
	for line := 1; line <= 60; line++ {
		if line == 45 {
			fmt.Fprintf(&b, "%d: Finding: fact number %d.\n", line, n)
			continue
		}
		fmt.Fprintf(&b, "%d: nothing to see in line %d of book %d, the weather was fair\n", line, line, n)
	}
	return b.String()
}

func TestPythonStrategyReadsPagesAndBigEvents(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.one(python(t, "headlines.py", ""))
	s := compactiontest.New(t, "headlines", "x")
	h.lent["s1"] = s
	if err := i.OpenSession(t.Context(), s.Opened()); err != nil {
		t.Fatal(err)
	}
	s.User(session.SourceOwner, "read all")
	for n := range 40 {
		s.Exchange(fmt.Sprint("c", n), "read", fmt.Sprintf(`{"n":%d}`, n), strings.Repeat("é", 30000)+fmt.Sprintf("\nFinding: page %d\n", n))
	}
	s.Exchange("big", "read", `{"n":"big"}`, strings.Repeat("ü", 3<<20)+"\nFinding: at the end of 6 MB\n")
	s.Compact(i.Strategy(), s.Input(session.TriggerPressure))
	text := s.Messages()[1].Text()
	for _, want := range []string{"read all", "Finding: page 0\n", "Finding: page 39\n", "Finding: at the end of 6 MB"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
}
