package notes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of a listing.
const (
	DefaultList = 20
	MaxList     = 100
)

// ListAsk selects notes. Path is a home, a folder or a note; "" = all homes of
// the session.
type ListAsk struct {
	Path   string
	Sort   string // recent (default) | name
	Limit  int
	Cursor string
	Bytes  int // bound of the result; 0 = MaxResultBytes
}

type found struct {
	address Address
	home    Home
	info    Info
}

// List lists notes, the MAPs first, as a result text: a line, then one a note.
func (s *Store) List(ctx context.Context, ask ListAsk) (string, error) {
	if strings.TrimSuffix(ask.Path, "/") == "@projects" {
		return s.listProjects(ask)
	}
	all, skipped, err := s.gather(ctx, ask.Path)
	if err != nil {
		return "", err
	}
	if ask.Sort != "name" {
		ask.Sort = "recent"
		slices.SortStableFunc(all, func(x, y found) int { return y.info.Written.Compare(x.info.Written) })
	}
	slices.SortStableFunc(all, func(x, y found) int { return cmp.Compare(rank(x), rank(y)) })
	limit := DefaultList
	if ask.Limit > 0 {
		limit = min(ask.Limit, MaxList)
	}
	from, err := offset(ask.Cursor, len(all), ask.Sort, ask.Path)
	if err != nil {
		return "", err
	}
	to := min(from+limit, len(all))
	var rows strings.Builder
	for i, f := range all[from:to] {
		row := f.row(ctx)
		if i > 0 && rows.Len()+len(row) > bound(ask.Bytes) {
			to = from + i
			break
		}
		rows.WriteString(row)
	}
	l := OK("notes_list", ask.Path).Put("notes", len(all)).Put("sort", ask.Sort)
	if len(skipped) > 0 {
		l.Put("skipped", len(skipped))
	}
	if to < len(all) {
		l.Put("next", offsetCursor(to, ask.Sort, ask.Path))
	}
	text := l.String() + "\n" + rows.String()
	for _, sk := range skipped[:min(len(skipped), 5)] {
		text += fmt.Sprintf("not shown: %s (%s)\n", quoted(sk.Path), sk.Why)
	}
	return text, nil
}

// bound is how many bytes the rows of a result may have; its first line and what
// is said of refused entries come on top.
func bound(bytes int) int {
	if bytes <= 0 || bytes > MaxResultBytes {
		bytes = MaxResultBytes
	}
	return bytes - min(bytes/2, 2048)
}

// rank puts the MAPs before everything else.
func rank(f found) int {
	if isMap(f.info.Path) {
		return 0
	}
	return 1
}

// row tells of one note; one that cannot be read says why.
func (f found) row(ctx context.Context) string {
	n, err := f.home.Read(ctx, f.info.Path)
	if err != nil {
		return fmt.Sprintf("%s written=%s %s\n", quoted(f.address.String()), stamp(f.info.Written), CodeOf(err))
	}
	return fmt.Sprintf("%s rev=%s cp=%d written=%s %s\n", quoted(f.address.String()), n.Rev, n.CodePoints(), stamp(n.Written), n.Title())
}

// stamp is a time as results show it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// gather lists the notes of a scope in home order, by path.
func (s *Store) gather(ctx context.Context, scope string) (all []found, skipped []Skipped, err error) {
	homes, slug, under := s.Homes(), "", ""
	if scope != "" {
		a, err := ParseScope(scope)
		if err != nil {
			return nil, nil, err
		}
		a = s.canonical(a)
		h, err := s.Home(a)
		if err != nil {
			return nil, nil, err
		}
		homes, slug, under = []Home{h}, a.Slug, a.Path
	}
	for _, h := range homes {
		l, err := h.List(ctx)
		if err != nil {
			return nil, nil, err
		}
		base := Address{Home: h.Kind(), Slug: slug}
		for _, n := range l.Notes {
			if under == "" || n.Path == withExtension(under) || strings.HasPrefix(n.Path, under+"/") {
				all = append(all, found{Address{base.Home, base.Slug, n.Path}, h, n})
			}
		}
		for _, sk := range l.Skipped {
			skipped = append(skipped, Skipped{Address{base.Home, base.Slug, sk.Path}.String(), sk.Why})
		}
		if l.More {
			skipped = append(skipped, Skipped{base.String(), fmt.Sprintf("more than %d notes", MaxNotes)})
		}
	}
	return all, skipped, nil
}

func (s *Store) listProjects(ask ListAsk) (string, error) {
	slugs, err := s.Projects()
	if err != nil {
		return "", err
	}
	limit := DefaultList
	if ask.Limit > 0 {
		limit = min(ask.Limit, MaxList)
	}
	from, err := offset(ask.Cursor, len(slugs), "projects")
	if err != nil {
		return "", err
	}
	to := min(from+limit, len(slugs))
	l, rows := OK("notes_list", "@projects").Put("projects", len(slugs)), ""
	for i, slug := range slugs[from:to] {
		row := "@projects/" + slug
		if s.canonical(Address{Home: Other, Slug: slug}).Home == Project {
			row += " (this one: @project)"
		}
		if i > 0 && len(rows)+len(row) >= bound(ask.Bytes) {
			to = from + i
			break
		}
		rows += row + "\n"
	}
	if to < len(slugs) {
		l.Put("next", offsetCursor(to, "projects"))
	}
	return l.String() + "\n" + rows, nil
}

// offsetCursor names a place in a listing; key makes it fit only the same question.
func offsetCursor(at int, key ...string) string {
	return fmt.Sprintf("%d.%s", at, Rev(strings.Join(key, "\x00")))
}

func offset(cursor string, total int, key ...string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	number, _, _ := strings.Cut(cursor, ".")
	at, err := strconv.Atoi(number)
	if err != nil || at < 0 || at > total || cursor != offsetCursor(at, key...) {
		return 0, Refuse(CodeCursor, "repeat the question without a cursor", "%q does not go with this question", cursor)
	}
	return at, nil
}
