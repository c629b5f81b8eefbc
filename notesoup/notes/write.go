package notes

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxWriteCodePoints bounds the text of one call.
const MaxWriteCodePoints = 16384

// Mode says what a write does with what is there.
type Mode string

const (
	Create  Mode = "create"  // refuses a note that exists
	Append  Mode = "append"  // adds lines at the end; makes a missing note
	Replace Mode = "replace" // needs IfRev
)

// Write is one write.
type Write struct {
	Path  string // an address
	Text  string
	Mode  Mode   // "" = Create
	IfRev string // the revision that the note must have; "" = any, but for Replace
}

// Receipt says what a mutation came to, as one line of key=value pairs.
type Receipt struct {
	Tool    string
	Address Address
	Mode    string
	Edits   int
	MovedTo string
	Change
}

// Write writes a note. The receipt is given only for what is on the disk.
func (s *Store) Write(ctx context.Context, w Write) (Receipt, error) {
	if w.Mode == "" {
		w.Mode = Create
	}
	a, h, err := s.Find(w.Path)
	if err != nil {
		return Receipt{}, err
	}
	if n := utf8.RuneCountInString(w.Text); n > MaxWriteCodePoints {
		return Receipt{}, Refuse(CodeTooLarge, "write it in several calls with mode=append", "the text has %d code points, %d a call are allowed", n, MaxWriteCodePoints)
	}
	by := Written
	if w.Mode == Append {
		by = Appended
	}
	change, err := h.Update(ctx, a.Path, by, func(old *Note) (string, error) { return w.apply(a, old) })
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{Tool: "notes_write", Address: a, Mode: string(w.Mode), Change: change}, nil
}

// apply is the note's new text.
func (w Write) apply(a Address, old *Note) (string, error) {
	if old != nil && w.Mode == Create {
		return "", Refuse(CodeExists, fmt.Sprintf("mode=append adds to it, mode=replace with if_rev=%s replaces it", old.Rev),
			"%s exists already (rev=%s, %d code points)", a, old.Rev, old.CodePoints())
	}
	if old == nil && w.Mode == Replace {
		return "", Refuse(CodeNotFound, "mode=create makes it", "there is no note %s to replace", a)
	}
	if err := checkRev(a, old, w.IfRev, w.Mode == Replace); err != nil {
		return "", err
	}
	if w.Mode != Append || old == nil || old.Text == "" {
		return w.Text, nil
	}
	if w.Text == "" {
		return old.Text, nil
	}
	text := old.Text
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + w.Text, nil
}

// checkRev refuses a change that was made for another revision.
func checkRev(a Address, old *Note, rev string, needed bool) error {
	const next = "read it again, then repeat the change with its rev"
	switch {
	case old == nil && rev != "":
		return Refuse(CodeRev, "leave if_rev out to make it", "there is no note %s, so no revision %s of it", a, rev)
	case old == nil || rev == old.Rev:
		return nil
	case rev == "" && needed:
		return Refuse(CodeRev, next, "replacing %s needs if_rev; it has rev=%s now", a, old.Rev)
	case rev == "":
		return nil
	}
	return Refuse(CodeRev, next, "%s has rev=%s now, not %s", a, old.Rev, rev)
}

// String is the receipt's line.
func (r Receipt) String() string {
	l := OK(r.Tool, r.Address.String())
	if r.Mode != "" {
		l.Put("mode", r.Mode)
	}
	if r.Edits > 0 {
		l.Put("edits", r.Edits)
	}
	if r.MovedTo != "" {
		l.Put("moved_to", r.MovedTo)
	}
	before := 0
	if r.Before != nil {
		before = r.Before.CodePoints()
	}
	if r.After != nil {
		after := r.After.CodePoints()
		l.Put("rev", r.After.Rev)
		if r.Before != nil {
			l.Put("was", r.Before.Rev)
		}
		l.Put("cp", fmt.Sprintf("%d(%+d)", after, after-before)).Put("lines", r.After.Lines())
		if r.Before == nil {
			l.Put("created", "yes")
		}
		if !r.Changed {
			l.Put("changed", "no")
		}
		if isMap(r.After.Path) {
			if after > MapShown {
				l.Put("warn", "map_over").Put("shown", MapShown).Put("of", after)
			}
			l.Put("boot", "map")
		} else if r.Changed {
			l.Put("boot", "recent#1")
		}
	} else if r.Before != nil {
		l.Put("was", r.Before.Rev)
	}
	return l.Put("durable", "yes").String()
}
