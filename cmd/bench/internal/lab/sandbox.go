package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
)

// Sandbox is a user with nothing yet: no sessions, notes or settings.
type Sandbox struct {
	lab *Lab
	dir string
	env []string
}

// Sandbox makes a sandbox.
func (l *Lab) Sandbox() (*Sandbox, error) {
	dir, err := os.MkdirTemp(l.dir, "")
	if err != nil {
		return nil, err
	}
	s := &Sandbox{lab: l, dir: dir, env: []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}}
	for name, sub := range map[string]string{
		"HOME": "home", "TMPDIR": "tmp", "XDG_RUNTIME_DIR": "run",
		"TUREEN_DATA_DIR": "data", "TUREEN_CONFIG_DIR": "config", "TUREEN_NOTES_HOME": "notes",
	} {
		s.env = append(s.env, name+"="+s.Path(sub))
	}
	for _, sub := range []string{"home", "tmp", "run", "work"} {
		if err := os.Mkdir(s.Path(sub), 0o700); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Path is a path inside the sandbox; "work" is the working directory.
func (s *Sandbox) Path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

// Close removes the sandbox.
func (s *Sandbox) Close() error { return os.RemoveAll(s.dir) }

// File makes a text file of so many lines in the working directory and returns its
// path.
func (s *Sandbox) File(name string, lines int) (string, error) {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%04d what is written here is read again and again\n", i+1)
	}
	path := s.Path("work", name)
	return path, os.WriteFile(path, []byte(b.String()), 0o600)
}

// Profile says what differs between the profiles that are measured. All have the same
// three plugins, and no guards: a benchmark does nothing but repeat itself.
type Profile struct {
	Strategy string
	Window   int // tokens
}

const profileText = `schema  = 1
extends = "base"
[model]
provider = "openai"
name = %q
base_url = %q
context_window = %d
max_output_tokens = 8192
[[plugins]]
use = "files"
[[plugins]]
use = "search"
[[plugins]]
use = "shell"
[compaction]
strategy = %q
`

// Profile writes a profile and returns its path.
func (s *Sandbox) Profile(p Profile) (string, error) {
	text := fmt.Sprintf(profileText, endpoint.Model, s.lab.Endpoint.BaseURL(), p.Window, p.Strategy)
	if p.Strategy == "notesoup" {
		text += "[compaction.notesoup]\ncarry = \"request\"\n"
	}
	path := s.Path("profile.toml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// Session is the file of the only session, "" where there is not exactly one.
func (s *Sandbox) Session() string {
	found, _ := filepath.Glob(s.Path("data", "sessions", "*.db"))
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
