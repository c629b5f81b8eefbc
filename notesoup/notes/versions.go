package notes

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"
)

// MaxKept bounds how many entries of a home's trash are looked at.
const MaxKept = 10000

// By says what ended a version.
type By string

const (
	Appended By = "append" // keeps no copy: the text is the beginning of the next one
	Written  By = "write"
	Edited   By = "edit"
	Restored By = "restore"
	Moved    By = "move"
	Deleted  By = "delete"
)

// Version is a text that a note has or had. Its name is its Rev: equal texts are
// one version, however often they stood there.
type Version struct {
	Address
	Note
	Ended time.Time // zero for the present one
	By    By        // "" for the present one
	// Unreadable is why the copy that was kept is not shown, "" where it is; then
	// there is neither a text nor a Rev.
	Unreadable Code
}

// kept is a file in the trash.
type kept struct {
	name  string
	path  string // of the note
	ended time.Time
	by    By
	info  fs.FileInfo
}

// The name of a file in the trash tells when the text ended and how, and whose it
// was: TIME-BY-PATH, with + for the slashes of the path, which no address holds.
// Its own time is when the text was written.
const (
	keptTime  = "20060102T150405.000000000Z"
	keptSlash = "+"
)

func keptName(at time.Time, by By, notePath string) string {
	return at.UTC().Format(keptTime) + "-" + string(by) + "-" + strings.ReplaceAll(notePath, "/", keptSlash)
}

// parseKept reads a name in the trash. What is no name of ours is not of a version.
func parseKept(name string) (kept, bool) {
	stamp, rest, _ := strings.Cut(name, "-")
	by, file, ok := strings.Cut(rest, "-")
	at, err := time.Parse(keptTime, stamp)
	k := kept{name: name, path: strings.ReplaceAll(file, keptSlash, "/"), ended: at, by: By(by)}
	ok = ok && err == nil && slices.Contains([]By{Appended, Written, Edited, Restored, Moved, Deleted}, k.by) &&
		checkPath(k.path) == nil && withExtension(k.path) == k.path
	return k, ok
}

// kept lists what a home's trash holds of a note, or of all where notePath is "",
// by name.
func (t *Tree) kept(home, notePath string) ([]kept, error) {
	dir := path.Join(trashDir, home)
	if info, err := t.inspect(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, Refuse(CodeLink, "move it away", "%s is no directory", dir)
	}
	f, err := t.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(MaxKept)
	var all []kept
	for _, e := range entries {
		k, ok := parseKept(e.Name())
		if !ok || notePath != "" && k.path != notePath {
			continue
		}
		if k.info, ok = lstat(e); ok {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(x, y kept) int { return strings.Compare(x.name, y.name) })
	if len(entries) > 0 {
		err = nil // some of it reads
	}
	return all, ignoreEnd(err)
}

func (h *fileHome) Versions(ctx context.Context, notePath string) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		dir, err := h.place(ctx, false)
		if err != nil || dir == "" {
			if err != nil {
				yield(Version{}, wrap(h.shown(notePath), err))
			}
			return
		}
		present, err := h.present(ctx, notePath)
		if err != nil {
			yield(Version{}, err)
			return
		}
		copies, err := h.tree.kept(dir, notePath)
		if err != nil {
			yield(Version{}, wrap(h.shown(notePath), err))
			return
		}
		slices.Reverse(copies)
		for len(present)+len(copies) > 0 {
			if err := ctx.Err(); err != nil {
				yield(Version{}, wrap(h.shown(notePath), err))
				return
			}
			var v Version
			if len(copies) == 0 || len(present) > 0 && (notePath != "" || !present[0].Written.Before(copies[0].ended)) {
				v, present = h.standing(ctx, present[0]), present[1:]
			} else {
				v, copies = h.copied(dir, copies[0]), copies[1:]
			}
			if v.Unreadable == CodeNotFound {
				continue // gone since
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// present are the notes as they stand, the one that was written last first.
func (h *fileHome) present(ctx context.Context, notePath string) ([]Info, error) {
	if notePath != "" {
		return []Info{{Path: notePath}}, nil // whether it is there is found when it is read
	}
	l, err := h.List(ctx)
	slices.SortStableFunc(l.Notes, func(x, y Info) int { return y.Written.Compare(x.Written) })
	return l.Notes, err
}

func (h *fileHome) standing(ctx context.Context, info Info) Version {
	n, err := h.Read(ctx, info.Path)
	if err != nil {
		n = Note{Info: info}
	}
	return Version{Address: Address{h.kind, h.slug, info.Path}, Note: n, Unreadable: CodeOf(err)}
}

func (h *fileHome) copied(dir string, k kept) Version {
	v := Version{Address: Address{h.kind, h.slug, k.path}, Ended: k.ended, By: k.by,
		Note: Note{Info: Info{Path: k.path, Bytes: k.info.Size(), Written: k.info.ModTime()}}}
	b, _, err := h.tree.readFile(path.Join(trashDir, dir, k.name))
	if err == nil {
		err = checkText(k.path, string(b))
	}
	if err = wrap(h.shown(k.path), err); err != nil {
		v.Unreadable = CodeOf(err)
		return v
	}
	v.Text, v.Rev = string(b), Rev(string(b))
	return v
}
