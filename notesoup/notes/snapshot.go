package notes

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"sync"
)

// What a boot shows of a home (N6).
const (
	MapShown    = 4096 // code points of its MAP
	RecentShown = 3    // notes besides the MAP
	HeadShown   = 1024 // code points of each
)

// Snapshot is what a boot needs of a home, read once.
type Snapshot struct {
	Kind    Kind
	Where   string
	Absent  string // why there is no such home, "" where there is one
	Warning string // what is doubtful about it
	Total   int
	Map     *Note // nil where the home has none
	Recent  []Note
	Skipped []Skipped // refused entries, and notes that did not read
}

// kinds are the homes in the order in which they are shown.
var kinds = []Kind{Session, Project, Human, Self, Model}

// Snapshot reads the five homes, side by side: each is listed once, and only what
// will be shown is read. Recent are the notes that were written last by the files'
// own times, newest first. A note that does not read is Skipped; a home that does
// not list is an error.
func (s *Store) Snapshot(ctx context.Context) ([]Snapshot, error) {
	homes, why := s.Homes(), s.Project().Why
	snaps, errs := make([]Snapshot, len(kinds)), make([]error, len(kinds))
	var all sync.WaitGroup
	for at, kind := range kinds {
		i := slices.IndexFunc(homes, func(h Home) bool { return h.Kind() == kind })
		if i < 0 {
			snaps[at] = Snapshot{Kind: kind, Absent: why}
			continue
		}
		all.Go(func() { snaps[at], errs[at] = snapshot(ctx, homes[i]) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return snaps, nil
}

func snapshot(ctx context.Context, h Home) (Snapshot, error) {
	l, err := h.List(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	snap := Snapshot{Kind: h.Kind(), Where: h.Where(), Total: len(l.Notes), Skipped: l.Skipped}
	if p, ok := h.(ProjectHome); ok {
		snap.Warning = p.Warning()
	}
	slices.SortStableFunc(l.Notes, func(a, b Info) int {
		if isMap(a.Path) != isMap(b.Path) {
			if isMap(a.Path) {
				return -1
			}
			return 1
		}
		if c := b.Written.Compare(a.Written); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	for _, info := range l.Notes {
		if len(snap.Recent) == RecentShown {
			break
		}
		n, err := h.Read(ctx, info.Path)
		switch {
		case CodeOf(err) == CodeNotFound: // gone since
		case CodeOf(err) == CodeIO, CodeOf(err) == CodeAborted:
			return Snapshot{}, err
		case err != nil:
			snap.Skipped = append(snap.Skipped, Skipped{info.Path, string(CodeOf(err))})
		case isMap(info.Path):
			snap.Map = &n
		default:
			snap.Recent = append(snap.Recent, n)
		}
	}
	return snap, nil
}

// Address is the address of a note of the home.
func (s Snapshot) Address(notePath string) string {
	return Address{Home: s.Kind, Path: path.Clean(notePath)}.String()
}
