package notes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// marker is the content of a markerFile.
type marker struct {
	V       int         `json:"v"`
	Slug    string      `json:"slug"`
	Name    string      `json:"name"`
	Created time.Time   `json:"created"`
	IDs     []ProjectID `json:"ids"`
}

// knows tells whether an id is the marker's. The user may call it by its slug.
func (m marker) knows(id ProjectID) bool {
	return slices.Contains(m.IDs, id) || id.Kind == "user" && id.Value == m.Slug
}

// projectHome is the home of a project, which is found by its ids. One serves reads,
// writes and the boot of a session.
type projectHome struct {
	*fileHome
	id Identity

	mu      sync.Mutex
	slug    string // "" until the home is known
	learned bool   // the marker has the ids
	warning string
}

// Project opens the home of a project.
func (t *Tree) Project(id Identity) ProjectHome {
	h := &projectHome{id: id}
	h.fileHome = &fileHome{tree: t, kind: Project, place: h.place}
	return h
}

// Slug is the project's, "" as long as no home was made for it.
func (h *projectHome) Slug() (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.slug == "" {
		found, err := h.find()
		if err != nil {
			return "", err
		}
		h.slug, h.warning = found.slug, found.warning
	}
	return h.slug, nil
}

// Warning says which other project claims an id of this one, "" for none.
func (h *projectHome) Warning() string {
	if _, err := h.Slug(); err != nil {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.warning
}

// place is the home's directory. Only a write makes one, so that looking at a
// project leaves no trace.
func (h *projectHome) place(ctx context.Context, create bool) (string, error) {
	slug, err := h.Slug()
	if err == nil && create {
		slug, err = h.settle(ctx)
	}
	if err != nil || slug == "" {
		return "", err
	}
	return path.Join("projects", slug), nil
}

// lead is the home that ids lead to: its slug, the ids that no marker has, and what
// is said of ids that another home has. Such homes are never merged.
type lead struct {
	slug    string
	fresh   []ProjectID
	warning string
}

// find looks for a home whose marker knows one of the ids, the strongest first. Where
// the user named the project that alone decides.
func (h *projectHome) find() (lead, error) {
	markers, err := h.tree.markers()
	if err != nil {
		return lead{}, err
	}
	decides := func(id ProjectID) bool { return id.Kind == "user" || h.id.IDs[0].Kind != "user" }
	var f lead
	for _, kind := range idOrder {
		for _, id := range h.id.IDs {
			if id.Kind != kind {
				continue
			}
			at := slices.IndexFunc(markers, func(m marker) bool { return m.knows(id) })
			switch {
			case at < 0:
				f.fresh = append(f.fresh, id)
			case f.slug == "" && decides(id):
				f.slug = markers[at].Slug
			case markers[at].Slug != f.slug && f.warning == "":
				f.warning = fmt.Sprintf("its %s is that of @projects/%s too; the two stay apart", id.Kind, markers[at].Slug)
			}
		}
	}
	return f, nil
}

// settle makes the home where there is none, and lets the marker of one that was
// found learn the ids that are new.
func (h *projectHome) settle(ctx context.Context) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.learned {
		return h.slug, nil
	}
	unlock, err := h.tree.lock(ctx, "projects")
	if err != nil {
		return "", err
	}
	defer unlock()
	f, err := h.find()
	if err != nil {
		return "", err
	}
	if f.slug == "" {
		f.slug, err = h.make(f.fresh)
	} else if len(f.fresh) > 0 {
		err = h.learn(f.slug, f.fresh)
	}
	if err != nil {
		return "", err
	}
	h.slug, h.warning, h.learned = f.slug, f.warning, true
	return h.slug, nil
}

// make makes the home: an exclusive mkdir decides between processes, a name that
// another project has gets six hex digits of the strongest id. The lock is held.
func (h *projectHome) make(ids []ProjectID) (string, error) {
	if err := h.tree.mkdirs("projects"); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(h.id.IDs[0].Kind + ":" + h.id.IDs[0].Value))
	slug := toSlug(h.id.Name)
	if slug == "" {
		slug = "project"
	}
	err := h.tree.root.Mkdir(path.Join("projects", slug), 0o700)
	if errors.Is(err, fs.ErrExist) && h.tree.isEmpty(path.Join("projects", slug)) {
		err = nil // a process died here; we hold the lock
	} else if errors.Is(err, fs.ErrExist) {
		slug = strings.Trim(slug[:min(len(slug), maxSlugBytes-7)], "-_.") + "-" + hex.EncodeToString(sum[:3])
		err = h.tree.root.Mkdir(path.Join("projects", slug), 0o700)
	}
	if err != nil {
		return "", err
	}
	if err := h.tree.mark(marker{V: 1, Slug: slug, Name: h.id.Name, Created: time.Now().UTC(), IDs: ids}); err != nil {
		return "", err
	}
	return slug, h.tree.syncDir("projects")
}

// learn adds ids to a marker. The lock is held.
func (h *projectHome) learn(slug string, ids []ProjectID) error {
	markers, err := h.tree.markers()
	if err != nil {
		return err
	}
	for _, m := range markers {
		if m.Slug == slug {
			m.IDs = append(m.IDs, ids...)
			return h.tree.mark(m)
		}
	}
	return fmt.Errorf("the marker of %s is gone", slug)
}

func (t *Tree) mark(m marker) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return t.writeFile(path.Join("projects", m.Slug, markerFile), append(b, '\n'))
}

// Projects are the slugs of all marked projects.
func (t *Tree) Projects() ([]string, error) {
	markers, err := t.markers()
	var slugs []string
	for _, m := range markers {
		slugs = append(slugs, m.Slug)
	}
	return slugs, err
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
