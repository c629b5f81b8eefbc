package notes

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
)

// ProjectID is one way to recognise a project.
type ProjectID struct {
	Kind  string `json:"kind"` // user | gitdir | origin | path
	Value string `json:"value"`
}

// idOrder is how much an id counts, strongest first.
var idOrder = []string{"user", "gitdir", "origin", "path"}

// Identity is the project that a working directory belongs to. Without IDs it
// belongs to none, and Why says so.
type Identity struct {
	Root string      `json:"root,omitempty"` // real path of the checkout, or of the directory itself
	Name string      `json:"name,omitempty"` // what a new home is named after
	IDs  []ProjectID `json:"ids,omitempty"`  // strongest first
	Why  string      `json:"why,omitempty"`
}

// Identify finds the project of a working directory: what the setting names, if it
// is not "", else the nearest parent with .git, else the directory itself. The root of the
// file system, the user's home and the places for temporary files are no projects,
// whatever lies in them. Nothing is written and git is not run.
func Identify(workspace, setting string) (Identity, error) {
	real, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return named(setting, Identity{}), fmt.Errorf("find the project of %s: %w", workspace, err)
	}
	root, git := checkout(real)
	if why := noProject(root); why != "" {
		return named(setting, Identity{Root: root, Why: why}), nil
	}
	id := Identity{Root: root, Name: filepath.Base(root)}
	common, err := commonDir(git)
	if git != "" && err == nil {
		id.IDs = append(id.IDs, ProjectID{"gitdir", common})
		switch base := filepath.Base(common); {
		case base == ".git": // a worktree goes by its main checkout
			id.Name = filepath.Base(filepath.Dir(common))
		case strings.HasSuffix(base, ".git"):
			id.Name = strings.TrimSuffix(base, ".git")
		}
		if origin := originOf(common, root); origin != "" {
			id.IDs = append(id.IDs, ProjectID{"origin", origin})
			if owner := path.Base(path.Dir(origin)); !strings.HasPrefix(origin, "file:") && strings.Count(origin, "/") > 1 {
				id.Name = owner + "-" + path.Base(origin)
			}
		}
	}
	id.IDs = append(id.IDs, ProjectID{"path", root})
	return named(setting, id), nil
}

// named puts the user's own word for the project before all else.
func named(setting string, id Identity) Identity {
	if setting = strings.TrimSpace(setting); setting != "" {
		id.Name, id.Why = setting, ""
		id.IDs = append([]ProjectID{{"user", setting}}, id.IDs...)
	}
	return id
}

// checkout is the nearest directory with .git, or a bare repository, and the git
// directory as it is named there; else dir itself.
func checkout(dir string) (root, git string) {
	for at := dir; noProject(at) == ""; at = filepath.Dir(at) {
		if p := filepath.Join(at, ".git"); exists(p) {
			return at, p
		}
		if exists(filepath.Join(at, "HEAD")) && exists(filepath.Join(at, "objects")) && exists(filepath.Join(at, "refs")) {
			if filepath.Base(at) == ".git" { // dir lies inside it
				return filepath.Dir(at), at
			}
			return at, at
		}
	}
	return dir, ""
}

// noProject says why a directory is no project's root, "" if it may be one.
func noProject(dir string) string {
	if dir == filepath.Dir(dir) {
		return "the working directory is the root of the file system"
	}
	if home, err := os.UserHomeDir(); err == nil && same(dir, home) {
		return "the working directory is the user's home"
	}
	for _, tmp := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if same(dir, tmp) {
			return "the working directory is the place for temporary files"
		}
	}
	return ""
}

// commonDir is the real path of the git directory that all worktrees share.
func commonDir(git string) (string, error) {
	info, err := os.Stat(git)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		text, err := small(git)
		if err != nil {
			return "", err
		}
		to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:")
		if !ok {
			return "", fmt.Errorf("%s names no git directory", git)
		}
		git = within(filepath.Dir(git), strings.TrimSpace(to))
	}
	if text, err := small(filepath.Join(git, "commondir")); err == nil {
		git = within(git, strings.TrimSpace(text))
	}
	return filepath.EvalSymlinks(git)
}

// originOf is the normalised address of the remote named origin, "" for none.
func originOf(git, root string) string {
	text, err := small(filepath.Join(git, "config"))
	if err != nil {
		return ""
	}
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = strings.EqualFold(strings.Join(strings.Fields(line), " "), `[remote "origin"]`)
			continue
		}
		if key, value, ok := strings.Cut(line, "="); inside && ok && strings.EqualFold(strings.TrimSpace(key), "url") {
			return normalOrigin(strings.Trim(strings.TrimSpace(value), `"`), root)
		}
	}
	return ""
}

// defaultPorts are left out of an origin.
var defaultPorts = map[string]string{"ssh": "22", "https": "443", "http": "80", "git": "9418"}

// normalOrigin is HOST/PATH for every way to reach it: without scheme, user, password,
// token, default port and .git. A repository on this machine is file:PATH. What does not
// parse is "", for a secret may be in it.
func normalOrigin(text, root string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return ""
	}
	colon, slash := strings.Index(text, ":"), strings.Index(text, "/")
	switch {
	case strings.Contains(text, "://"):
	case colon > 0 && (slash < 0 || colon < slash): // user@host:path
		text = "ssh://" + text[:colon] + "/" + text[colon+1:]
	case text == "":
		return ""
	default:
		text = "file://" + (&url.URL{Path: within(root, text)}).EscapedPath()
	}
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	place := strings.TrimSuffix(path.Clean("/"+u.Path), ".git")
	if place = strings.TrimSuffix(place, "/"); place == "" {
		return ""
	}
	if u.Scheme == "file" {
		if real, err := filepath.EvalSymlinks(path.Clean(u.Path)); err == nil {
			place = strings.TrimSuffix(real, "/.git")
		}
		return "file:" + strings.TrimSuffix(place, ".git")
	}
	host := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" && port != defaultPorts[u.Scheme] {
		host += ":" + port
	}
	if host == "" {
		return ""
	}
	return host + place
}

// maxSmall bounds what is read of a file of git's.
const maxSmall = 256 << 10

// small reads a small regular file of a checkout, which is not trusted: it neither
// waits for a pipe nor reads without end.
func small(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", name)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSmall))
	return string(b), err
}

func within(dir, to string) string {
	if filepath.IsAbs(to) {
		return to
	}
	return filepath.Join(dir, to)
}

func same(a, b string) bool {
	real, err := filepath.EvalSymlinks(b)
	return err == nil && a == real
}

func exists(p string) bool { _, err := os.Lstat(p); return err == nil }
