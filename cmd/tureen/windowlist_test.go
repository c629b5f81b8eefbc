package main_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

type listedWindow struct {
	Window      int
	ID          string
	First       int64 `json:"first_seq"`
	Last        int64 `json:"last_seq"`
	Began       string
	Ended       string
	Tokens      *int
	Millis      *int64 `json:"reset_ms"`
	Boot        int    `json:"boot_bytes"`
	Compactions []struct {
		host.CompactionResult
		Seq int64
	}
	Missing []session.Damage
}

func (s *sandbox) windows(t *testing.T, id string) (all []listedWindow, o outcome) {
	t.Helper()
	o = s.ok(t, "session", "windows", id, "--json")
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	return all, o
}

// TestN9_WindowsAreListedForAnyStrategyAndBehindDamage holds the windows against what
// the run said of its compactions, of two strategies, and then damages the log.
func TestN9_WindowsAreListedForAnyStrategyAndBehindDamage(t *testing.T) {
	t.Parallel()
	u := demo(t)
	r, _ := runDemo(t, u, "-P", "demo")
	all, _ := u.windows(t, r.Session)
	if len(r.Compactions) == 0 || len(all) != len(r.Compactions)+1 {
		t.Fatalf("%d windows, %d resets", len(all), len(r.Compactions))
	}
	next := int64(1)
	for i, w := range all {
		if w.Window != i+1 || w.First != next || w.Last < w.First || w.ID == "" || w.Boot == 0 || w.Tokens == nil || len(w.Missing) > 0 {
			t.Errorf("window %+v", w)
		}
		if next = w.Last + 1; i == 0 {
			continue
		}
		c := r.Compactions[i-1]
		if len(w.Compactions) != 1 || w.Compactions[0].Ordinal != c.Ordinal || w.Began != string(c.Trigger) || all[i-1].Ended != w.Began ||
			*all[i-1].Tokens != c.TokensBefore || w.Millis == nil || *w.Millis != c.Millis {
			t.Errorf("window %+v of compaction %+v", w, c)
		}
	}
	other, _ := runDemo(t, u, "-P", "demo", "-c", "compaction.strategy=summary")
	one, _ := u.windows(t, other.Session)
	if len(one) != 1 || one[0].ID != "" || one[0].Ended != "" || len(one[0].Compactions) != len(other.Compactions) || !slices.ContainsFunc(other.Compactions, func(c host.CompactionResult) bool { return c.Kind == "summary" }) {
		t.Errorf("of a strategy that does not reset: %+v", one)
	}

	file := u.path("data", "sessions", r.Session+".db")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	clear(b[len(b)/3 : 2*len(b)/3]) // some of the resets stand there
	write(t, file, string(b))
	rest, o := u.windows(t, r.Session)
	missing := 0
	for _, w := range rest {
		missing += len(w.Missing)
	}
	if missing == 0 || !strings.Contains(o.stderr, "is damaged") || !strings.Contains(o.stderr, "tureen session salvage "+r.Session) {
		t.Errorf("damaged: %d missing in %d windows: %s", missing, len(rest), o.stderr)
	}
	if !slices.ContainsFunc(all, func(w listedWindow) bool { return w.ID == rest[0].ID && w.First == rest[0].First }) {
		t.Errorf("the first window that reads is %+v", rest[0])
	}
	if o := u.ok(t, "session", "windows", r.Session); !strings.Contains(o.stdout, "(missing)") {
		t.Errorf("%s", o.stdout)
	}
	write(t, file, "")
	if o := u.run(t, "session", "windows", r.Session); o.exit != 9 || o.stdout != "" {
		t.Errorf("nothing reads: %+v", o)
	}
}
