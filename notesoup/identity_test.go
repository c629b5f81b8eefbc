package notesoup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// The project is settled when a window begins, and kept with it: a process that takes
// the session later does not ask the checkout again.
func TestN4_TheProjectIsFrozenForAWindowAndRecorded(t *testing.T) {
	t.Parallel()
	d := sit(t)
	app := filepath.Join(t.TempDir(), "app")
	if err := os.MkdirAll(app, 0o755); err != nil {
		t.Fatal(err)
	}
	process := func() *notes.Store {
		tree, err := notes.Open(d.home)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tree.Close() })
		store, err := tree.Store(notes.Who{Session: "s1", Created: compactiontest.Start, Agent: "tureen", Provider: "p", Model: "m", Workspace: app})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	d.store = process()
	s := d.strategy(notesoup.Config{})
	recorded := func(r compaction.Record) notesoup.Window {
		t.Helper()
		var w notesoup.Window
		if err := json.Unmarshal(r.Data, &w); err != nil || w.Identity == nil || !w.Intact() {
			t.Fatalf("%+v, %v", w, err)
		}
		return w
	}
	first := recorded(d.Open(s).Records[0])
	if len(first.Identity.IDs) != 1 || first.Identity.IDs[0].Kind != "path" {
		t.Fatalf("%+v", first.Identity)
	}
	if err := os.MkdirAll(filepath.Join(app, ".git"), 0o755); err != nil { // somebody runs git init
		t.Fatal(err)
	}
	d.store = process()
	s = d.strategy(notesoup.Config{})
	d.Open(s)
	if now := d.store.Project(); len(now.IDs) != 1 {
		t.Errorf("another process, the same window: %+v", now)
	}
	d.work("go", 2)
	second := recorded(d.Compact(s, d.Input(session.TriggerPressure)).Records[0])
	if len(second.Identity.IDs) != 2 || second.Identity.IDs[0].Kind != "gitdir" || len(d.store.Project().IDs) != 2 {
		t.Errorf("the next window: %+v, notes of %+v", second.Identity, d.store.Project())
	}
}
