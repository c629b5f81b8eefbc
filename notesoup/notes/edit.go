package notes

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxEdits bounds one call.
const MaxEdits = 20

// Trash is the address that takes a note out of its home; a copy is kept.
const Trash = ".trash"

// Edit replaces Old, which stands exactly once in the note, by New.
type Edit struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// Edit applies edits to a note, all or none. Each Old is looked for in the note
// as it was.
func (s *Store) Edit(ctx context.Context, address string, edits []Edit, ifRev string) (Receipt, error) {
	a, h, err := s.Find(address)
	if err != nil {
		return Receipt{}, err
	}
	total := 0
	for _, e := range edits {
		total += utf8.RuneCountInString(e.New)
	}
	if len(edits) > MaxEdits || total > MaxWriteCodePoints {
		return Receipt{}, Refuse(CodeTooLarge, "make several calls", "%d edits with %d code points; %d with %d are allowed", len(edits), total, MaxEdits, MaxWriteCodePoints)
	}
	change, err := h.Update(ctx, a.Path, Edited, func(old *Note) (string, error) {
		if old == nil {
			return "", missing(ctx, h, a)
		}
		if err := checkRev(a, old, ifRev, false); err != nil {
			return "", err
		}
		return applyEdits(a, old.Text, edits)
	})
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{Tool: "notes_edit", Address: a, Edits: len(edits), Change: change}, nil
}

func applyEdits(a Address, text string, edits []Edit) (string, error) {
	type place struct {
		from, to int
		text     string
	}
	var places []place
	for i, e := range edits {
		if e.Old == "" {
			return "", Refuse(CodeNoMatch, "name the text to replace, or use notes_write with mode=append", "edit %d of %s: old is empty", i+1, a)
		}
		from := strings.Index(text, e.Old)
		if from < 0 {
			return "", Refuse(CodeNoMatch, "read the note and copy the text exactly", "edit %d: its old text is not in %s", i+1, a)
		}
		if again := strings.Index(text[from+1:], e.Old); again >= 0 {
			return "", Refuse(CodeAmbiguous, "add text around it until it is the only one", "edit %d: its old text stands more than once in %s, at lines %d and %d",
				i+1, a, lineAt(text, from), lineAt(text, from+1+again))
		}
		places = append(places, place{from, from + len(e.Old), e.New})
	}
	slices.SortFunc(places, func(x, y place) int { return x.from - y.from })
	var b strings.Builder
	at := 0
	for _, p := range places {
		if p.from < at {
			return "", Refuse(CodeAmbiguous, "join them into one", "two edits of %s overlap at line %d", a, lineAt(text, p.from))
		}
		b.WriteString(text[at:p.from] + p.text)
		at = p.to
	}
	return b.String() + text[at:], nil
}

func lineAt(text string, at int) int { return strings.Count(text[:at], "\n") + 1 }

// Move renames a note within its home; to = Trash puts it away.
func (s *Store) Move(ctx context.Context, address, to, ifRev string) (Receipt, error) {
	a, h, err := s.Find(address)
	if err != nil {
		return Receipt{}, err
	}
	target := Address{Home: a.Home, Slug: a.Slug}
	if to != Trash {
		if target, err = Parse(to); err != nil {
			return Receipt{}, err
		}
		if target = s.canonical(target); target.Home != a.Home || target.Slug != a.Slug {
			return Receipt{}, Refuse(CodeAddress, "write the text to the other home, then move this note to "+Trash, "%s and %s are not in one home", a, target)
		}
		if path.Clean(target.Path) == a.Path {
			return Receipt{}, Refuse(CodeExists, "choose another name", "%s is where it is already", a)
		}
	}
	change, err := h.Move(ctx, a.Path, target.Path, func(old *Note) error { return checkRev(a, old, ifRev, false) })
	if CodeOf(err) == CodeNotFound {
		err = missing(ctx, h, a)
	}
	if err != nil {
		return Receipt{}, err
	}
	moved := Trash
	if to != Trash {
		moved = target.String()
	}
	return Receipt{Tool: "notes_edit", Address: a, MovedTo: moved, Change: change}, nil
}
