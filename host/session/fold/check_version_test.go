package fold_test

import (
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
)

// A snapshot in the form of another version is no broken rule: it is not used. One of
// this version has to be the fold.
func TestSP4_ASnapshotOfAnotherVersionBreaksNoRule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change     func(string) string
		violations int
	}{
		"as it is":        {func(s string) string { return s }, 0},
		"an older form":   {func(s string) string { return `{"version":1,"state":{"head":1}}` }, 0},
		"a newer form":    {func(s string) string { return `{"version":999}` }, 0},
		"no version":      {func(s string) string { return `{}` }, 1},
		"another content": {func(s string) string { return strings.Replace(s, `"totals":`, `"archived":true,"totals":`, 1) }, 1},
	} {
		store := memlog.New()
		log, err := store.Create(t.Context(), session.Created{ID: "a", Workspace: "/w"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := fold.Full(t.Context(), log)
		if err != nil {
			t.Fatal(err)
		}
		e := session.New(session.KindWarning, session.Warning{Code: "X", Message: "x"})
		e.Seq = 2
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
		if _, err := log.Append(t.Context(), session.Batch{Head: 1, Events: []session.Event{e}, Snapshot: []byte(c.change(string(s.Snapshot())))}); err != nil {
			t.Fatal(err)
		}
		if found, err := fold.Check(t.Context(), log); err != nil || len(found) != c.violations {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}
