package pluginhost

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

const (
	// socketTail is the longest path that stands below a generation's directory:
	// go-plugin's "plugin-dir" and "plugin" with ten digits each.
	socketTail = len("/plugin-dir1234567890/plugin1234567890")
	// genLen is the longest name of a generation's directory.
	genLen = len("/1234.123456")
	// rootLen is the longest name of a host's directory.
	rootLen = len("/"+rootPrefix) + 10
)

// socketLimit is what the kernel takes as a socket's path, without its NUL.
func socketLimit() int {
	if runtime.GOOS == "linux" {
		return 107
	}
	return 103
}

// base is a directory in which a host may make its own.
type base struct {
	path string
	// kept is how many of its last elements are the program's own: they are made
	// where they are missing, and removed where they are empty.
	kept int
}

// RuntimeDir finds the directory in which a Supervisor with that environment would
// put its sockets, and leaves nothing there.
func RuntimeDir(env []string) (string, error) {
	root, err := newRoot(socketBases(env))
	if err != nil {
		return "", err
	}
	return filepath.Dir(root.path), root.remove()
}

// socketBases lists the places from the best to the worst. A place for temporary
// files comes last: confined commands may write there.
func socketBases(env []string) []base {
	bases := []base{{path: lookup(env, "XDG_RUNTIME_DIR")}}
	if dir := filepath.Join("/run/user", strconv.Itoa(os.Getuid())); isOurs(dir) {
		bases = append(bases, base{path: dir})
	}
	state, cache := lookup(env, "XDG_STATE_HOME"), lookup(env, "XDG_CACHE_HOME")
	if home := lookup(env, "HOME"); filepath.IsAbs(home) && isOurs(home) {
		state, cache = orElse(state, filepath.Join(home, ".local", "state")), orElse(cache, filepath.Join(home, ".cache"))
	}
	if filepath.IsAbs(state) {
		bases = append(bases, base{path: filepath.Join(state, "tureen", "run"), kept: 2})
	}
	if filepath.IsAbs(cache) {
		bases = append(bases, base{path: filepath.Join(cache, "tureen"), kept: 1})
	}
	return append(bases, base{path: lookup(env, "TMPDIR")}, base{path: "/tmp"})
}

// newRoot makes the directory in the first base where sockets fit, and removes
// what hosts that died have left there.
func newRoot(bases []base) (*rootDir, error) {
	var problems []error
	for _, b := range bases {
		if b.path == "" {
			continue
		}
		if longest := len(b.path) + rootLen + genLen + socketTail; longest > socketLimit() {
			problems = append(problems, fmt.Errorf("%s is %d bytes too long for the path of a socket", b.path, longest-socketLimit()))
			continue
		}
		root, err := b.newRoot()
		for n := 1; n < rootAttempts && b.kept > 0 && errors.Is(err, fs.ErrNotExist); n++ {
			root, err = b.newRoot() // another host removed the base, which was empty
		}
		if err == nil {
			return root, nil
		}
		problems = append(problems, err)
	}
	return nil, fmt.Errorf("no directory for the plugins' sockets: set XDG_RUNTIME_DIR or TMPDIR to a short, writable one: %w", errors.Join(problems...))
}

func (b base) newRoot() (*rootDir, error) {
	made, err := b.make()
	if err == nil {
		sweep(b.path)
		var root *rootDir
		if root, err = makeRoot(b.path); err == nil {
			root.made = made
			return root, nil
		}
	}
	for _, dir := range made {
		_ = os.Remove(dir)
	}
	return nil, err
}

// make makes a base that is the program's own, for our user alone, and returns what
// is to be removed again: the program's own elements and those that were missing.
func (b base) make() (made []string, err error) {
	if b.kept == 0 {
		return nil, nil
	}
	missing := true
	for dir, n := b.path, 0; dir != filepath.Dir(dir); dir, n = filepath.Dir(dir), n+1 {
		if missing {
			_, err := os.Lstat(dir)
			missing = errors.Is(err, fs.ErrNotExist)
		}
		if n >= b.kept && !missing {
			break
		}
		made = append(made, dir)
	}
	if err := os.MkdirAll(b.path, 0o700); err != nil {
		return made, err
	}
	if !isOurs(b.path) {
		return nil, fmt.Errorf("%s is not a directory of this user", b.path)
	}
	return made, nil
}

// isOurs tells whether a path is a directory of our user, and no symlink to one.
func isOurs(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir() && ownedByUs(info)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
