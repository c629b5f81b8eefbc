package python_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/plugins/sdk"
)

const lab = "testdata/lab"

// The SDK carries its own copy of the protocol, since it is copied by itself.
func TestTheDescriptorSetIsThatOfTheProtocol(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../../proto/tureen/plugin/v1/plugin.binpb")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("tureen_plugin/plugin.binpb")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("tureen_plugin/plugin.binpb is not proto/tureen/plugin/v1/plugin.binpb (%v); run: make proto", err)
	}
}

// What needs no host is tested in Python.
func TestTheUnitTestsInPython(t *testing.T) {
	t.Parallel()
	needsPython(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/usr/bin/python3", "-B", "-m", "unittest", "discover", "-s", "tests")
	cmd.Env = append(os.Environ(), "PYTHONPATH=.")
	out, err := cmd.CombinedOutput()
	if ran := regexp.MustCompile(`(?m)^Ran ([1-9]\d*) tests`).FindSubmatch(out); err != nil || ran == nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What is printed at import, while a call is under way, behind Python's back or by a
// child is the host's log, and disturbs neither the handshake nor a call.
func TestG1_NoiseOnStdoutDoesNoHarm(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.start(lab, "")
	if got := must(t, i, "noise", nil); got != "quiet again" {
		t.Errorf("it says %q", got)
	}
	if got := must(t, i, "echo", object{"text": "né ", "times": 2}); got != "né né " {
		t.Errorf("afterwards it says %q", got)
	}
	until(t, "the log has what was printed", func() bool {
		log := h.log.String()
		return strings.Contains(log, "a banner at import") && strings.Contains(log, "past Python's back")
	})
}

func TestG1_ProgressComesInOrderBeforeOneResult(t *testing.T) {
	t.Parallel()
	i := newHouse(t, pluginhost.Options{}).start(lab, "")
	var mu sync.Mutex
	var said []string
	r, err := call(t.Context(), i, "steps", nil, func(text string) { mu.Lock(); said = append(said, text); mu.Unlock() })
	mu.Lock()
	defer mu.Unlock()
	if err != nil || r.Text != "all five" || strings.Join(said, ",") != "step 0,step 1,step 2,step 3,step 4" {
		t.Errorf("%q after %q, %v", r.Text, said, err)
	}
}

// Cancelling ends a coroutine, and tells a function in a thread.
func TestG1_ACancelledCallStops(t *testing.T) {
	t.Parallel()
	i := newHouse(t, pluginhost.Options{}).start(lab, "")
	for _, name := range []string{"hang", "hang_thread"} {
		trace := filepath.Join(t.TempDir(), name)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := call(ctx, i, name, object{"trace": trace}, nil); done <- err }()
		until(t, name+" has begun", func() bool { return exists(trace + ".begun") })
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		until(t, name+" has stopped", func() bool { return exists(trace + ".ended") })
	}
}

func TestT3_FailuresHaveTheirKind(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.start(lab, "")
	fail := func(how string) (string, *sdk.Error) {
		t.Helper()
		r, err := call(t.Context(), i, "fail", object{"how": how}, nil)
		var own *sdk.Error
		if err != nil && !errors.As(err, &own) {
			t.Fatalf("%s: %v", how, err)
		}
		return fmt.Sprint(r.Text, r.IsError, r.Code, r.Effects, r.Contexts), own
	}
	if got, err := fail("failure"); err != nil || got != "Error: there is no such page; name anothertrueNO_PAGE[] []" {
		t.Errorf("failure: %s, %v", got, err)
	}
	if got, err := fail("effects"); err != nil || got != "donefalseOK[conclude_turn] [a fact]" {
		t.Errorf("effects: %s, %v", got, err)
	}
	if _, err := fail("error"); err == nil || err.Code != "DISK" || err.Message != "the disk is full; make room" || err.Detail != "for the log" {
		t.Errorf("error: %+v", err)
	}
	if _, err := fail("exception"); err == nil || err.Code != "FAILED" || err.Message != "ValueError: half a pair: ?" || !strings.Contains(err.Detail, "lab.py") {
		t.Errorf("exception: %+v", err)
	}
	if _, err := fail("too big"); err == nil || err.Code != sdk.CodeTooBig {
		t.Errorf("too big: %+v", err)
	}
	if got, err := fail("nothing at all"); err != nil || got != "false[] []" {
		t.Errorf("None: %s, %v", got, err)
	}
	if _, err := call(t.Context(), i, "unknown", nil, nil); err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("an unknown tool: %v", err)
	}
	until(t, "the log has the traceback", func() bool { return strings.Contains(h.log.String(), "ValueError") })
}

func TestG1_ResultsOfFiveMiBArriveWhole(t *testing.T) {
	t.Parallel()
	i := newHouse(t, pluginhost.Options{}).start(lab, "")
	if got, want := must(t, i, "echo", object{"text": "a€", "times": 5 << 18}), strings.Repeat("a€", 5<<18); got != want {
		t.Errorf("%d bytes came of %d", len(got), len(want))
	}
}

func TestSEC_APluginHasOnlyWhatItIsGiven(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{Env: []string{"OPENAI_API_KEY=sk-not-yours"}})
	s := spec(t, lab, "")
	s.Secrets = map[string]string{"door": "sesame-open"}
	s.Deny = []sdk.Capability{sdk.CapSessionSteer}
	instances, err := h.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	i := instances[0]
	var about struct {
		Env     map[string]string
		Secrets map[string]string
		Granted []string
		Heard   []string
		Room    int
		Files   string
	}
	if err := i.OpenSession(t.Context(), compaction.Session{ID: "s1", Workspace: "/work"}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(must(t, i, "about", nil)), &about); err != nil {
		t.Fatal(err)
	}
	for name := range about.Env {
		if name == sdk.CookieKey || strings.HasPrefix(name, "PLUGIN_") || strings.Contains(name, "KEY") {
			t.Errorf("its children get %s", name)
		}
	}
	if about.Secrets["door"] != "sesame-open" || strings.Join(about.Granted, " ") != "session.read model.generate records.write" {
		t.Errorf("secrets %v, granted %v", about.Secrets, about.Granted)
	}
	if about.Room != 7 || about.Files != "full" || len(about.Heard) != 1 || about.Heard[0] != "opened s1 in /work" {
		t.Errorf("it was told %+v", about)
	}
	for range 2 {
		i.CloseSession(t.Context(), "s1")
	}
	if err := json.Unmarshal([]byte(must(t, i, "about", nil)), &about); err != nil || len(about.Heard) != 2 || about.Heard[1] != "closed s1" {
		t.Errorf("it heard %v, %v", about.Heard, err)
	}
}

func TestAStartThatIsRefusedSaysWhy(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	if _, err := h.Start(t.Context(), spec(t, lab, `{"start":"refuse"}`)); err == nil || !strings.Contains(err.Error(), "the licence is out of date; renew it") {
		t.Errorf("it refuses: %v", err)
	}
	if _, err := h.Start(t.Context(), spec(t, lab, `{"strat":"x"}`)); err == nil || !strings.Contains(err.Error(), `did you mean "start"?`) {
		t.Errorf("a config with a wrong key: %v", err)
	}
}
