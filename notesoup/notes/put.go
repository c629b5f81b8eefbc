package notes

import (
	"context"
	"fmt"
	"iter"
	"path"
)

// Put makes text the whole of a note, as a person edits it: ifRev is the revision
// that was edited, "" where there was no such note. What was changed meanwhile is
// left alone, with CodeRev or CodeExists.
func (s *Store) Put(ctx context.Context, address, text, ifRev string) (Receipt, error) {
	a, h, err := s.Find(address)
	if err != nil {
		return Receipt{}, err
	}
	return update(ctx, a, h, Edited, func(old *Note) (string, error) {
		if old != nil && ifRev == "" {
			return "", Refuse(CodeExists, "read it, then edit that", "%s exists by now (rev=%s)", a, old.Rev)
		}
		if old == nil && ifRev != "" {
			return "", Refuse(CodeRev, "restore it, or make it anew", "%s is gone by now, and with it rev=%s", a, ifRev)
		}
		return text, checkRev(a, old, ifRev, false)
	})
}

// Restore puts back the text of a version, whatever stands in its place: that goes
// into the trash. It also brings back a note that was deleted or moved away.
func (s *Store) Restore(ctx context.Context, address string, v Version) (Receipt, error) {
	a, h, err := s.Find(address)
	if err != nil {
		return Receipt{}, err
	}
	return update(ctx, a, h, Restored, func(*Note) (string, error) { return v.Text, nil })
}

func update(ctx context.Context, a Address, h Home, by By, change func(*Note) (string, error)) (Receipt, error) {
	c, err := h.Update(ctx, a.Path, by, change)
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{Tool: "notes_" + string(by), Address: a, Change: c}, nil
}

// Versions yields the versions of a note, newest first, or those of all notes of a
// home. Only what is asked for is read. An error is yielded last.
func (s *Store) Versions(ctx context.Context, address string) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		a, err := ParseScope(address)
		if err == nil && a.Path != "" {
			a, err = Parse(address)
		}
		a = s.canonical(a)
		var h Home
		if err == nil {
			h, err = s.Home(a)
		}
		if err != nil {
			yield(Version{}, err)
			return
		}
		h.Versions(ctx, a.Path)(yield)
	}
}

// Version finds a version of a note by its revision. Each of lengths is how many
// code points a text had that was only added to since: it is the beginning of a
// later one, and it is believed where its revision is right.
func (s *Store) Version(ctx context.Context, address, rev string, lengths ...int) (Version, error) {
	seen := 0
	for v, err := range s.Versions(ctx, address) {
		if err != nil {
			return Version{}, err
		}
		if v.Unreadable != "" {
			continue
		}
		seen++
		if v.Rev == rev {
			return v, nil
		}
		for _, n := range lengths {
			if text := Head(v.Text, n); n > 0 && len(text) < len(v.Text) && Rev(text) == rev {
				v.Text, v.Rev, v.Bytes = text, rev, int64(len(text))
				return v, nil
			}
		}
	}
	a, h, err := s.Find(address)
	if err != nil {
		return Version{}, err
	}
	if seen == 0 {
		return Version{}, missing(ctx, h, a)
	}
	return Version{}, Refuse(CodeNotFound, fmt.Sprintf("look at the versions of %s", path.Base(a.Path)), "no version %s of %s is kept", rev, a)
}
