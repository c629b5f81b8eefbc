package grow

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/notesoup"
)

// rich is the log of a real run.
func rich(t *testing.T) (events []session.Event) {
	t.Helper()
	data, err := os.ReadFile("../../../../testdata/sessions/rich.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range session.ReadLines(bytes.NewReader(data)) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func grown(t *testing.T, l Log) (*Grown, []session.Event) {
	t.Helper()
	g := l.From(rich(t))
	var events []session.Event
	for e, err := range g.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return g, events
}

func TestD3_AGrownLogIsLegal(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1000, 20_000} {
		g, events := grown(t, Log{Events: n, Window: 300, Text: "what is found", Seed: 7})
		if over := len(events) - n; over < 0 || over > perTurn*6 {
			t.Errorf("%d events, want about %d", len(events), n)
		}
		c := fold.NewChecker()
		resets := 0
		for i, e := range events {
			c.Event(e)
			if e.Kind == session.KindCompactionEnded {
				resets++
			}
			if i > 0 && e.Time.Before(events[i-1].Time) {
				t.Fatalf("event %d is older than the one before it", e.Seq)
			}
		}
		c.End()
		if v := c.Violations(); len(v) > 0 {
			t.Fatalf("%d events: %d violations, the first %+v", n, len(v), v[0])
		}
		if !bytes.Equal(g.Snapshot(), c.State().Snapshot()) {
			t.Error("the snapshot is not that of a full fold")
		}
		if want := 2 + (n-1000)/1700; resets < want {
			t.Errorf("%d resets in %d events, want %d", resets, n, want)
		}
	}
}

// Logs of different lengths end with the same surface, but for what is drawn.
func TestD3_GrownLogsEndAlike(t *testing.T) {
	t.Parallel()
	short, _ := grown(t, Log{Events: 1000, Window: 300, Text: "x", Seed: 7})
	long, _ := grown(t, Log{Events: 9000, Window: 300, Text: "x", Seed: 7})
	a, b := short.state.Surface, long.state.Surface
	if len(a.Nodes) != len(b.Nodes) || len(a.Nodes) < 2*Tail || long.inWindow != Tail || long.state.Compaction.Count <= short.state.Compaction.Count {
		t.Errorf("%d and %d nodes after %d and %d resets", len(a.Nodes), len(b.Nodes), short.state.Compaction.Count, long.state.Compaction.Count)
	}
}

func TestAGrownLogIsDrawnFromItsSeed(t *testing.T) {
	t.Parallel()
	same := func(a, b Log) bool {
		_, x := grown(t, a)
		_, y := grown(t, b)
		return slices.EqualFunc(x, y, func(a, b session.Event) bool { return a.Time.Equal(b.Time) && bytes.Equal(a.Data, b.Data) })
	}
	l := Log{Events: 1000, Window: 300, Text: "x", Seed: 7}
	other := l
	other.Seed++
	if !same(l, l) || same(l, other) {
		t.Error("equal seeds give other events, or other seeds equal ones")
	}
}

// Each window has a record as notesoup writes it, the boot in the system message and
// the facts that a reset takes from the surface.
func TestEachGrownWindowIsWhole(t *testing.T) {
	t.Parallel()
	g, events := grown(t, Log{Events: 5000, Window: 300, Text: "x", Seed: 7})
	ordinals := 0
	for _, e := range events {
		r, err := session.Decode[session.Record](e)
		if e.Kind != session.KindRecord || err != nil || r.Kind != notesoup.RecordWindow {
			continue
		}
		var w notesoup.Window
		own := e.Seq > g.opening[len(g.opening)-1].Seq // those of the opening were edited since
		if ordinals++; json.Unmarshal(r.Data, &w) != nil || own && !w.Intact() || w.Ordinal != ordinals {
			t.Fatalf("window %d is %+v", ordinals, w)
		}
		if found, ok := notesoup.FindWindow(w.Boot); !ok || found.ID != w.ID || found.Ordinal != ordinals {
			t.Errorf("the boot of window %d tells of %+v", ordinals, found)
		}
	}
	if system := g.state.Surface.Nodes[0].Message.Text(); ordinals < 4 || !strings.Contains(system, g.window.Boot) {
		t.Errorf("after %d windows the system message lacks the boot", ordinals)
	}
	if facts := g.state.Context; !strings.Contains(facts, "/srv/dir") {
		t.Errorf("the facts on the surface are %q", facts)
	}
}

func TestAnOpeningHasToBeWhole(t *testing.T) {
	t.Parallel()
	whole := rich(t)
	for _, opening := range [][]session.Event{nil, whole[:2], whole[:len(whole)-1]} {
		var err error
		for _, err = range (Log{Events: 1000, Window: 300}).From(opening).Events() {
		}
		if err == nil {
			t.Errorf("an opening of %d events passes", len(opening))
		}
	}
}
