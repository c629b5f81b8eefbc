package profile

import (
	"fmt"
	"io/fs"
	"strings"
)

// Problem is one fault of a profile: where, which key, what was found, what is
// allowed, what to do.
type Problem struct {
	Origin  Origin `json:"origin"`
	Key     string `json:"key,omitempty"` // dotted
	Found   string `json:"found"`
	Allowed string `json:"allowed,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// Error is one line: file:line:column: key: found; allowed: …; hint.
func (p Problem) Error() string {
	var parts []string
	at := p.Origin.String()
	if at == sourceDefault { // which nobody wrote
		at = ""
	}
	if p.Origin.Line > 0 && p.Origin.Column > 0 {
		at = fmt.Sprintf("%s:%d", at, p.Origin.Column)
	}
	for _, s := range []string{at, p.Key} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	text := p.Found
	if p.Allowed != "" {
		text += "; allowed: " + p.Allowed
	}
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return strings.Join(append(parts, text), ": ")
}

// Errors is everything that is wrong with a profile, never empty.
type Errors struct {
	Profile  string
	Problems []Problem
}

// Error is one line for one problem, else a heading and a line for each.
func (e *Errors) Error() string {
	if len(e.Problems) == 1 {
		return fmt.Sprintf("profile %q: %s", e.Profile, e.Problems[0].Error())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "profile %q has %d problems:", e.Profile, len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.Error())
	}
	return b.String()
}

// Unwrap gives the problems to errors.As.
func (e *Errors) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// NotFoundError says that no profile has the name, and which ones there are. It
// is fs.ErrNotExist to errors.Is.
type NotFoundError struct {
	Name    string
	Names   []string // sorted
	Nearest string   // "" where none is close
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("no profile %q", e.Name)
	if isPath(e.Name) {
		text = fmt.Sprintf("no profile file %q", e.Name)
	}
	if e.Nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	if len(e.Names) == 0 {
		return text
	}
	return text + "; there are: " + strings.Join(e.Names, ", ")
}

// Unwrap returns fs.ErrNotExist.
func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }
