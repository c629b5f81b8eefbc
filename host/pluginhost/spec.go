package pluginhost

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Spec says how one plugin is started and what it is given.
type Spec struct {
	Name    string   // as the profile calls it
	Argv    []string // Argv[0] is looked up in the plugin's PATH unless it holds a "/"
	Env     []string // NAME=value, on top of what every plugin gets
	Dir     string   // working directory, "" = a private one
	Config  json.RawMessage
	Secrets map[string]string
	Deny    []sdk.Capability // asked for by the plugin, refused by the profile
	// OnFailure is what a failed hook does: continue or end_turn, "" = end_turn.
	OnFailure string
	// UserEnv gives the plugin the user's environment less what looks like a
	// secret; meant for shell alone.
	UserEnv bool
	Origin  string // where the profile names it, "profile.toml:12"
	// Path makes a path absolute that the config has under a key; nil = it is relative
	// to the working directory.
	Path func(key, path string) string

	inspect bool // start with no grants
}

func (s Spec) label() string {
	if s.Origin == "" {
		return fmt.Sprintf("plugin %q", s.Name)
	}
	return fmt.Sprintf("plugin %q (%s)", s.Name, s.Origin)
}

func (s Spec) check(secretEnv []string) error {
	if len(s.Argv) == 0 {
		return fmt.Errorf("%s names no program to run", s.label())
	}
	for _, pair := range s.Env {
		name, _, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%s: environment entry %q is not NAME=value", s.label(), pair)
		}
		if slices.Contains(secretEnv, name) {
			return fmt.Errorf("%s: %s holds a model's key, which no plugin gets: take it out of the plugin's env", s.label(), name)
		}
	}
	if s.OnFailure != "" && s.OnFailure != "continue" && s.OnFailure != "end_turn" {
		return fmt.Errorf("%s: on_failure is %q: it is continue or end_turn", s.label(), s.OnFailure)
	}
	return nil
}

// Info is what a plugin says of itself; Tools is filled by Inspect.
type Info struct {
	sdk.Info
	Tools []tool.Spec `json:"tools,omitempty"`
}

// Deadlines bound every call to a plugin. A zero field takes its default.
type Deadlines struct {
	Handshake   time.Duration // 15 s from exec to the handshake line
	GetInfo     time.Duration // 5 s
	Initialize  time.Duration // 20 s, Attach included
	OpenSession time.Duration // 5 s, CloseSession too
	ListTools   time.Duration // 5 s
	Open        time.Duration // 10 s
	Sections    time.Duration // 2 s, contexts too
	Hook        time.Duration // 2 s: before step, before and after tool
	LateHook    time.Duration // 5 s: turn stopping, request failed, turn ended, idle
	Propose     time.Duration // 10 min
	Silence     time.Duration // 60 s without progress and without a host call while proposing
	CallTool    time.Duration // 30 min at most; the tool's own deadline is its caller's
	Ready       time.Duration // 2 s for a new process to be up
	Exit        time.Duration // 3 s for the news of an exit to follow a lost connection

	Drain    time.Duration // 5 s
	Shutdown time.Duration // 2 s
	Term     time.Duration // 1 s
	Kill     time.Duration // 1 s

	HealthEvery time.Duration // 15 s while idle
	Health      time.Duration // 2 s, two misses in a row end the process

	Backoff     []time.Duration // 0.2, 1, 5, 15, 60 s before a restart
	MaxCrashes  int             // 5 within CrashWindow disable the plugin
	CrashWindow time.Duration   // 10 min; as long in good health resets Backoff
}

func (d Deadlines) withDefaults() Deadlines {
	set := func(field *time.Duration, value time.Duration) {
		if *field == 0 {
			*field = value
		}
	}
	set(&d.Handshake, 15*time.Second)
	set(&d.GetInfo, 5*time.Second)
	set(&d.Initialize, 20*time.Second)
	set(&d.OpenSession, 5*time.Second)
	set(&d.ListTools, 5*time.Second)
	set(&d.Open, 10*time.Second)
	set(&d.Sections, 2*time.Second)
	set(&d.Hook, 2*time.Second)
	set(&d.LateHook, 5*time.Second)
	set(&d.Propose, 10*time.Minute)
	set(&d.Silence, time.Minute)
	set(&d.CallTool, 24*time.Hour)
	set(&d.Ready, 2*time.Second)
	set(&d.Exit, 3*time.Second)
	set(&d.Drain, 5*time.Second)
	set(&d.Shutdown, 2*time.Second)
	set(&d.Term, time.Second)
	set(&d.Kill, time.Second)
	set(&d.HealthEvery, 15*time.Second)
	set(&d.Health, 2*time.Second)
	set(&d.CrashWindow, 10*time.Minute)
	if d.Backoff == nil {
		d.Backoff = []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second, 15 * time.Second, time.Minute}
	}
	if d.MaxCrashes == 0 {
		d.MaxCrashes = 5
	}
	return d
}

// StartError says why a plugin did not start, and what to do.
type StartError struct {
	Plugin  string // as the profile calls it, with the place
	Problem string
	Hint    string
	Stderr  []string // the last lines
	Err     error
}

func (e *StartError) Error() string {
	text := e.Plugin + " did not start: " + e.Problem
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	for _, line := range e.Stderr {
		text += "\n  stderr: " + line
	}
	return text
}

func (e *StartError) Unwrap() error { return e.Err }

func lookup(env []string, name string) string {
	for _, pair := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}
