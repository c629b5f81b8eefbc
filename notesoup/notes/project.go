package notes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// markerFile marks a project's home and says which project it is. Only markers
// inside the home count; one in a checkout is a stranger's word.
const markerFile = ".project"

// ProjectID is one way to recognise a project.
type ProjectID struct {
	Kind  string `json:"kind"` // gitdir | path
	Value string `json:"value"`
}

// idOrder is how much an id counts, strongest first.
var idOrder = []string{"user", "gitdir", "origin", "path"}

// marker is the content of a markerFile.
type marker struct {
	V       int         `json:"v"`
	Slug    string      `json:"slug"`
	Name    string      `json:"name"`
	Created time.Time   `json:"created"`
	IDs     []ProjectID `json:"ids"`
}

// Identity is the project that a working directory belongs to. Without IDs it
// belongs to none, and Why says so.
type Identity struct {
	Root string // real path of the checkout, or of the directory itself
	Name string
	IDs  []ProjectID // strongest first
	Why  string
}

// Identify finds the project of a working directory: the nearest parent with
// .git, else the directory itself. The root of the file system, the user's home
// and the directory for temporary files are no projects. Nothing is written and
// git is not run.
func Identify(workspace string) (Identity, error) {
	real, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return Identity{}, fmt.Errorf("find the project of %s: %w", workspace, err)
	}
	root, git := real, ""
	for dir := real; ; dir = filepath.Dir(dir) {
		if p := filepath.Join(dir, ".git"); exists(p) {
			root, git = dir, p
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if why := noProject(root); why != "" {
		return Identity{Root: root, Why: why}, nil
	}
	id := Identity{Root: root, Name: filepath.Base(root)}
	if git != "" {
		if common, err := commonDir(git); err == nil {
			id.IDs = append(id.IDs, ProjectID{"gitdir", common})
			if filepath.Base(common) == ".git" { // a worktree goes by its main checkout
				id.Name = filepath.Base(filepath.Dir(common))
			}
		}
	}
	id.IDs = append(id.IDs, ProjectID{"path", root})
	return id, nil
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
		b, err := os.ReadFile(git)
		if err != nil {
			return "", err
		}
		to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir:")
		if !ok {
			return "", fmt.Errorf("%s names no git directory", git)
		}
		git = within(filepath.Dir(git), strings.TrimSpace(to))
	}
	if b, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil {
		git = within(git, strings.TrimSpace(string(b)))
	}
	return filepath.EvalSymlinks(git)
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

// Resolver finds the home of a project. One resolver serves reads, writes and
// the boot of a session; it is safe for concurrent use.
type Resolver struct {
	tree *Tree
	id   Identity

	mu   sync.Mutex
	slug string // "" until the home is known
}

// Slug is the project's, "" as long as no home was made for it.
func (r *Resolver) Slug() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slug == "" {
		found, err := r.find()
		if err != nil {
			return "", err
		}
		r.slug = found
	}
	return r.slug, nil
}

// place is the home's directory. Only a write makes one, so that looking at a
// project leaves no trace.
func (r *Resolver) place(ctx context.Context, create bool) (string, error) {
	slug, err := r.Slug()
	if err == nil && slug == "" && create {
		slug, err = r.make(ctx)
	}
	if err != nil || slug == "" {
		return "", err
	}
	return path.Join("projects", slug), nil
}

// find looks for a home whose marker knows one of the ids, the strongest first.
func (r *Resolver) find() (string, error) {
	markers, err := r.tree.markers()
	if err != nil {
		return "", err
	}
	for _, kind := range idOrder {
		for _, id := range r.id.IDs {
			if id.Kind != kind {
				continue
			}
			for _, m := range markers {
				if slices.Contains(m.IDs, id) {
					return m.Slug, nil
				}
			}
		}
	}
	return "", nil
}

// make makes the home: an exclusive mkdir decides between processes, a name that
// another project has gets six hex digits of the strongest id.
func (r *Resolver) make(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	unlock, err := r.tree.lock(ctx, "projects")
	if err != nil {
		return "", err
	}
	defer unlock()
	if found, err := r.find(); err != nil || found != "" {
		r.slug = found
		return found, err
	}
	if err := r.tree.mkdirs("projects"); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(r.id.IDs[0].Kind + ":" + r.id.IDs[0].Value))
	slug := toSlug(r.id.Name)
	if slug == "" {
		slug = "project"
	}
	err = r.tree.root.Mkdir(path.Join("projects", slug), 0o700)
	if errors.Is(err, fs.ErrExist) && r.tree.isEmpty(path.Join("projects", slug)) {
		err = nil // a process died here; we hold the lock
	} else if errors.Is(err, fs.ErrExist) {
		slug = strings.Trim(slug[:min(len(slug), maxSlugBytes-7)], "-_.") + "-" + hex.EncodeToString(sum[:3])
		err = r.tree.root.Mkdir(path.Join("projects", slug), 0o700)
	}
	if err != nil {
		return "", err
	}
	b, _ := json.MarshalIndent(marker{V: 1, Slug: slug, Name: r.id.Name, Created: time.Now().UTC(), IDs: r.id.IDs}, "", "  ")
	if err := r.tree.writeFile(path.Join("projects", slug, markerFile), append(b, '\n')); err != nil {
		return "", err
	}
	r.slug = slug
	return slug, r.tree.syncDir("projects")
}

// markers reads the markers of all projects, by slug. What has none, or one that
// does not read, is no project.
func (t *Tree) markers() ([]marker, error) {
	entries, err := fs.ReadDir(t.root.FS(), "projects")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, wrap(filepath.Join(t.dir, "projects"), err)
	}
	var all []marker
	for _, e := range entries {
		if !e.IsDir() || !isSlug(e.Name()) {
			continue
		}
		b, _, err := t.readFile(path.Join("projects", e.Name(), markerFile))
		var m marker
		if err != nil || json.Unmarshal(b, &m) != nil {
			continue
		}
		m.Slug = e.Name()
		all = append(all, m)
	}
	return all, nil
}

func (t *Tree) isEmpty(dir string) bool {
	info, err := t.inspect(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	entries, err := fs.ReadDir(t.root.FS(), dir)
	return err == nil && len(entries) == 0
}
