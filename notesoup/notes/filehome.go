package notes

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// fileHome is a Home in a directory of a Tree.
type fileHome struct {
	tree *Tree
	kind Kind
	slug string
	// place names the directory, relative to the tree. A home whose directory is
	// chosen when it is first written answers "" until then, unless create is true.
	place    func(ctx context.Context, create bool) (string, error)
	readOnly bool
}

// Home opens the home of a kind by its name.
func (t *Tree) Home(kind Kind, name string) Home {
	h := &fileHome{tree: t, kind: kind}
	switch kind {
	case Session:
		h.place = fixed(path.Join("sessions", name))
	case Other:
		h.place, h.slug, h.readOnly = fixed(path.Join("projects", name)), name, true
	default:
		h.place = fixed(path.Join(string(kind), name))
	}
	return h
}

func fixed(dir string) func(context.Context, bool) (string, error) {
	return func(context.Context, bool) (string, error) { return dir, nil }
}

func (h *fileHome) Kind() Kind { return h.kind }

func (h *fileHome) Where() string {
	dir, err := h.place(context.Background(), false)
	if err != nil || dir == "" {
		return ""
	}
	return filepath.Join(h.tree.dir, filepath.FromSlash(dir))
}

func (h *fileHome) shown(notePath string) string {
	return Address{h.kind, h.slug, notePath}.String()
}

func (h *fileHome) List(ctx context.Context) (Listing, error) {
	dir, err := h.place(ctx, false)
	if err != nil || dir == "" {
		return Listing{}, err
	}
	if _, err := h.tree.inspect(dir); errors.Is(err, fs.ErrNotExist) {
		return Listing{}, nil
	} else if err != nil {
		return Listing{}, wrap(h.Where(), err)
	}
	var l Listing
	err = fs.WalkDir(h.tree.root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if name == dir {
			return nil
		}
		return l.add(strings.TrimPrefix(name, dir+"/"), e)
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		return Listing{}, wrap(h.Where(), err)
	}
	return l, nil
}

// add takes in an entry below the home's directory.
func (l *Listing) add(name string, e fs.DirEntry) error {
	skip := func(why string) error {
		l.Skipped = append(l.Skipped, Skipped{strings.ToValidUTF8(name, "\uFFFD"), why})
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if strings.HasPrefix(path.Base(name), ".") {
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if err := checkPath(name); err != nil {
		return skip("its name is no address")
	}
	if e.IsDir() {
		return nil
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone since
	} else if err != nil {
		return err
	}
	if err := plain(name, info); err != nil {
		return skip("a link or a special file")
	}
	if withExtension(name) != name {
		return skip("not a .md or .txt file")
	}
	if len(l.Notes) == MaxNotes {
		l.More = true
		return fs.SkipAll
	}
	l.Notes = append(l.Notes, Info{Path: name, Bytes: info.Size(), Written: info.ModTime()})
	return nil
}

func (h *fileHome) Read(ctx context.Context, notePath string) (Note, error) {
	dir, err := h.place(ctx, false)
	if err == nil && dir == "" {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Note{}, wrap(h.shown(notePath), err)
	}
	n, err := h.read(dir, notePath)
	return n, wrap(h.shown(notePath), err)
}

func (h *fileHome) read(dir, notePath string) (Note, error) {
	b, info, err := h.tree.readFile(path.Join(dir, notePath))
	if err != nil {
		return Note{}, err
	}
	text := string(b)
	if !isText(text) {
		return Note{}, Refuse(CodeBinary, "ask the owner what it is", "%s is not UTF-8 text", h.shown(notePath))
	}
	return Note{Info: Info{Path: notePath, Bytes: info.Size(), Written: info.ModTime()}, Text: text, Rev: Rev(text)}, nil
}

func (h *fileHome) Update(ctx context.Context, notePath string, by By, change func(*Note) (string, error)) (Change, error) {
	return h.locked(ctx, notePath, func(dir string, old *Note) (Change, error) {
		if old == nil {
			if twin := h.tree.twin(dir, notePath); twin != "" {
				return Change{}, Refuse(CodeAddress, "use that one, or another name", "%s differs from %s only in case or form", h.shown(notePath), h.shown(twin))
			}
		}
		text, err := change(old)
		if err != nil {
			return Change{}, err
		}
		if err := checkText(notePath, text); err != nil {
			return Change{}, err
		}
		if old != nil && old.Text == text {
			return Change{Before: old, After: old}, nil
		}
		if old != nil && (by != Appended || !strings.HasPrefix(text, old.Text)) {
			if err := h.tree.discard(dir, old, by); err != nil {
				return Change{}, err
			}
		}
		if err := h.tree.writeFile(path.Join(dir, notePath), []byte(text)); err != nil {
			return Change{}, err
		}
		after, err := h.read(dir, notePath)
		return Change{Before: old, After: &after, Changed: true}, err
	})
}

func (h *fileHome) Move(ctx context.Context, notePath, to string, check func(*Note) error) (Change, error) {
	return h.locked(ctx, notePath, func(dir string, old *Note) (Change, error) {
		if old == nil {
			return Change{}, fs.ErrNotExist
		}
		if err := check(old); err != nil {
			return Change{}, err
		}
		if to == "" {
			if err := h.tree.discard(dir, old, Deleted); err != nil {
				return Change{}, err
			}
			if err := h.tree.root.Remove(path.Join(dir, notePath)); err != nil {
				return Change{}, err
			}
			return Change{Before: old, Changed: true}, h.tree.syncDir(path.Dir(path.Join(dir, notePath)))
		}
		if twin := h.tree.twin(dir, to); twin != "" && twin != notePath {
			return Change{}, Refuse(CodeExists, "choose another name", "%s stands in the way of %s", h.shown(twin), h.shown(to))
		}
		if _, err := h.tree.inspect(path.Join(dir, to)); err == nil {
			return Change{}, Refuse(CodeExists, "choose another name", "%s exists already", h.shown(to))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return Change{}, err
		}
		if err := checkText(to, old.Text); err != nil {
			return Change{}, err
		}
		if err := h.tree.discard(dir, old, Moved); err != nil {
			return Change{}, err
		}
		return h.rename(dir, old, to)
	})
}

func (h *fileHome) rename(dir string, old *Note, to string) (Change, error) {
	from, target := path.Join(dir, old.Path), path.Join(dir, to)
	if err := h.tree.mkdirs(path.Dir(target)); err != nil {
		return Change{}, err
	}
	if err := h.tree.root.Rename(from, target); err != nil {
		return Change{}, err
	}
	after := *old
	after.Path = to
	change := Change{Before: old, After: &after, Changed: true}
	if err := h.tree.syncDir(path.Dir(target)); err != nil {
		return change, err
	}
	return change, h.tree.syncDir(path.Dir(from))
}

// locked runs f while nobody else writes the home, with the note as it stands.
func (h *fileHome) locked(ctx context.Context, notePath string, f func(dir string, old *Note) (Change, error)) (Change, error) {
	shown := h.shown(notePath)
	if h.readOnly {
		return Change{}, Refuse(CodeReadOnly, "write to @project or to the session's notes", "%s belongs to another project", shown)
	}
	dir, err := h.place(ctx, true)
	if err != nil {
		return Change{}, wrap(shown, err)
	}
	unlock, err := h.tree.lock(ctx, dir)
	if err != nil {
		return Change{}, wrap(shown, err)
	}
	defer unlock()
	var old *Note
	switch n, err := h.read(dir, notePath); {
	case err == nil:
		old = &n
	case !errors.Is(err, fs.ErrNotExist):
		return Change{}, wrap(shown, err)
	}
	change, err := f(dir, old)
	return change, wrap(shown, err)
}

// twin finds an entry that some file systems would hold for one of the parts of
// notePath without being it; "" for none.
func (t *Tree) twin(dir, notePath string) string {
	parts := strings.Split(notePath, "/")
	for i, part := range parts {
		parent := path.Join(parts[:i]...)
		entries, err := fs.ReadDir(t.root.FS(), path.Join(dir, parent))
		if err != nil {
			return ""
		}
		for _, e := range entries {
			if e.Name() != part && fold(e.Name()) == fold(part) {
				return path.Join(parent, e.Name())
			}
		}
	}
	return ""
}
