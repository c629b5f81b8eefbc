// Package trust remembers which profiles of projects the user has approved: a
// checkout names programs, an endpoint and the variable of a key, and must not
// choose them by itself.
package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/tureen-host/tureen/host/profile"
)

const (
	fileName = "trusted.json"
	version  = 1
)

// State is what the user has said about a profile.
type State string

const (
	NotNeeded State = ""          // it is no project's
	Unknown   State = "untrusted" // nothing so far
	Changed   State = "changed"   // approved, but not as it is now
	Trusted   State = "trusted"
)

// Entry is an approved profile: its file, and every file of a project that it was
// read from as it was then.
type Entry struct {
	Path  string                `json:"path"`
	Files []profile.ProjectFile `json:"files"`
	Time  time.Time             `json:"time"`
}

// Book is trusted.json of the user's configuration directory. Several processes
// may use it at once.
type Book struct{ path string }

// Open names the book in a directory; nothing is read or made.
func Open(configDir string) Book { return Book{filepath.Join(configDir, fileName)} }

// Path is the file of the book.
func (b Book) Path() string { return b.path }

// Key is the path under which a profile is kept: that of the first file that a
// project brought.
func Key(p *profile.Profile) string {
	if len(p.ProjectFiles) == 0 {
		return ""
	}
	return p.ProjectFiles[0].Path
}

// State tells what the user has said about a profile, and for Changed which files
// differ. The profile counts as it was loaded: what the file says since does not
// matter. A book that cannot be read trusts nothing.
func (b Book) State(p *profile.Profile) (State, []string, error) {
	if !p.Project {
		return NotNeeded, nil, nil
	}
	entries, err := b.List()
	if err != nil {
		return Unknown, nil, err
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Path == Key(p) })
	if i < 0 || len(p.ProjectFiles) == 0 {
		return Unknown, nil, nil
	}
	var changed []string
	for _, f := range p.ProjectFiles {
		if !slices.Contains(entries[i].Files, f) {
			changed = append(changed, f.Path)
		}
	}
	if len(changed) > 0 {
		return Changed, changed, nil
	}
	return Trusted, nil, nil
}

// Add approves a profile as it was loaded.
func (b Book) Add(p *profile.Profile) error {
	if len(p.ProjectFiles) == 0 {
		return fmt.Errorf("profile %q is no project's: it needs no trust", p.Name)
	}
	e := Entry{Path: Key(p), Files: p.ProjectFiles, Time: time.Now().UTC().Truncate(time.Second)}
	return b.update(func(entries []Entry) []Entry {
		return append(without(entries, e.Path), e)
	})
}

// Remove takes an approval back and tells whether there was one.
func (b Book) Remove(path string) (bool, error) {
	found := false
	err := b.update(func(entries []Entry) []Entry {
		left := without(entries, path)
		found = len(left) < len(entries)
		return left
	})
	return found, err
}

// List returns what is approved, by path.
func (b Book) List() ([]Entry, error) {
	data, err := os.ReadFile(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var page struct {
		Version  int     `json:"version"`
		Profiles []Entry `json:"profiles"`
	}
	if err == nil {
		err = json.Unmarshal(data, &page)
	}
	if err == nil && page.Version != version {
		err = fmt.Errorf("it has version %d, this program reads %d", page.Version, version)
	}
	if err != nil {
		return nil, fmt.Errorf("read the trusted profiles in %s: %w; remove the file and trust them again", b.path, err)
	}
	slices.SortFunc(page.Profiles, func(x, y Entry) int { return strings.Compare(x.Path, y.Path) })
	return page.Profiles, nil
}

func without(entries []Entry, path string) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Path == path })
}

// update changes the book under its lock.
func (b Book) update(change func([]Entry) []Entry) error {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return fmt.Errorf("write the trusted profiles: %w", err)
	}
	lock := flock.New(b.path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock the trusted profiles: %w", err)
	}
	defer lock.Close()
	entries, err := b.List()
	if err != nil {
		return err
	}
	page := map[string]any{"version": version, "profiles": append([]Entry{}, change(entries)...)}
	data, err := json.MarshalIndent(page, "", "  ")
	if err == nil {
		err = replace(b.path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the trusted profiles: %w", err)
	}
	return nil
}

// replace gives a file new content, whole or not at all; only its owner reads it.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), fileName+".") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
