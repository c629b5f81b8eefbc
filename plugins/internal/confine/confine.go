// Package confine binds a command to what a session.Confinement allows, with the
// operating system's help (T17). A binding holds for good, so a command is started
// through the running program itself: see Command and entry.go.
//
// On Linux it is Landlock, from kernel 5.13 (ABI 1) on, that decides about files, and
// a seccomp filter that decides about sockets. What is bound:
//
//   - Files: everything may be read and run; only the directories of Bounds.Write may
//     be changed, besides devices that keep nothing, such as /dev/null. Device nodes
//     cannot be made anywhere. Truncation is covered from ABI 3 on.
//   - Other processes cannot be traced, nor their memory written. From ABI 6 on they
//     cannot be signalled, nor reached through abstract sockets.
//   - Root: a command of root gives up what reaches around all this, such as the right
//     to read other processes' environments, to load modules and to make device nodes.
//   - Helpers: from ABI 9 on sockets that somebody outside made cannot be connected
//     to. Before, no Unix socket can be made at all, pairs excepted.
//   - Offline: no socket but Unix ones can be made, be it for TCP, UDP or anything else,
//     loopback included.
//
// The filter of sockets knows amd64 and arm64. Elsewhere Landlock binds alone: offline
// then means TCP from ABI 4 and UDP from ABI 10 on, and helpers are bound from ABI 9 on.
//
// What is not: mode, owner, times and extended attributes of a file outside, which
// Landlock does not know (its content stays safe); and a file inside that has a second
// name outside. On other systems and older kernels nothing is bound: Enforced says so.
package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// Bounds is a session.Confinement made concrete for one session.
type Bounds struct {
	Files session.FilePolicy `json:"files"`
	// Write are the directories that may be changed, absolute and without symlinks.
	Write   []string `json:"write,omitempty"`
	Offline bool     `json:"offline,omitempty"`
	// Lent is the one directory of Write that has to be that very one.
	Lent *Place `json:"lent,omitempty"`
}

// Place is a directory, whatever its path may lead to later.
type Place struct {
	Path   string `json:"path"` // absolute, without symlinks
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// Lend adds a place to what may be changed. A command does not start where something
// else has that path by then.
func (b Bounds) Lend(p Place) Bounds {
	b.Write, b.Lent = append(slices.Clip(b.Write), p.Path), &p
	return b
}

// For makes the bounds of a call. workspace is absolute. private is a directory for
// temporary files that a call may write even under read-only, "" for none. A policy
// that is not known counts as read-only.
func For(c session.Confinement, workspace, private string) Bounds {
	b := Bounds{Files: c.Files, Offline: c.Offline}
	switch c.Files {
	case "", session.FilesFull:
		b.Files = session.FilesFull
	case session.FilesWorkspaceWrite:
		b.Write = roots(append([]string{workspace, "/tmp", os.TempDir()}, c.Writable...))
	default:
		b.Files = session.FilesReadOnly
		if private != "" {
			b.Write = roots([]string{private})
		}
	}
	return b
}

// Free tells whether nothing is bound.
func (b Bounds) Free() bool { return b.Files == session.FilesFull && !b.Offline }

// Root returns the directory of Write that holds path, an absolute path without
// symlinks.
func (b Bounds) Root(path string) (string, bool) {
	for _, root := range b.Write {
		if within(root, path) {
			return root, true
		}
	}
	return "", false
}

// roots resolves directories. One that lies inside of another adds nothing and is
// left out unresolved: whoever may write the outer one may have put a symlink in its
// place. So is one that does not exist.
func roots(dirs []string) []string {
	type dir struct{ named, real string }
	var known []dir
	for _, named := range dirs {
		if named = filepath.Clean(named); !filepath.IsAbs(named) {
			continue
		}
		if real, err := filepath.EvalSymlinks(named); err == nil {
			known = append(known, dir{named, real})
		}
	}
	var real []string
	for i, d := range known {
		inside := slices.ContainsFunc(known, func(other dir) bool {
			return other.named != d.named && (within(other.named, d.named) || other.real != d.named && within(other.real, d.named))
		})
		if !inside && !slices.Contains(real, d.real) && (d.real != "/" || i == 0) {
			real = append(real, d.real)
		}
	}
	return real
}

// within tells whether path is dir or lies in it; both are clean.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
