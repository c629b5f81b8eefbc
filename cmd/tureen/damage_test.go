package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

const sqlitePage = 4096

// damages are what can happen to the file of a session; each returns what is left.
var damages = []struct {
	name string
	hit  func(file []byte) []byte
	rest bool // something of it can be read
	all  bool // each event can
}{
	{"flipped bytes", func(f []byte) []byte {
		dice := rand.New(rand.NewPCG(7, 7))
		for range 12 {
			f[2*sqlitePage+dice.IntN(len(f)-2*sqlitePage)] ^= 1 << dice.IntN(8)
		}
		return f
	}, true, false},
	{"cut in the middle", func(f []byte) []byte { return f[:len(f)/2+1234] }, true, false},
	{"first page zeroed", func(f []byte) []byte { clear(f[:sqlitePage]); return f }, true, true},
	{"a page zeroed", func(f []byte) []byte {
		at := len(f) / 2 / sqlitePage * sqlitePage
		clear(f[at : at+sqlitePage])
		return f
	}, true, false},
	{"a page of something else", func(f []byte) []byte {
		at := len(f) / 3 / sqlitePage * sqlitePage
		copy(f[at:at+sqlitePage], bytes.Repeat([]byte("soup"), sqlitePage/4))
		return f
	}, true, false},
	{"empty", func([]byte) []byte { return nil }, false, false},
	{"rubbish", func([]byte) []byte { return []byte(strings.Repeat("rubbish ", 4000)) }, false, false},
}

// TestD1_ADamagedSessionIsRescued damages the file of a session that was reset several
// times. Its neighbours do not notice; verify names the places; what salvage makes of
// it holds to the rules and goes on to completion.
func TestD1_ADamagedSessionIsRescued(t *testing.T) {
	t.Parallel()
	u := demo(t)
	r, _ := runDemo(t, u, "-P", "demo")
	victim := r.Session
	var other host.Result
	if err := json.Unmarshal([]byte(u.ok(t, "run", "-q", "-C", u.path("demo"), "-P", "demo", "-o", "json", "Say hello.").stdout), &other); err != nil {
		t.Fatal(err)
	}
	neighbour := other.Session
	whole, err := os.ReadFile(u.path("data", "sessions", victim+".db"))
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			s := &sandbox{dir: u.dir, env: append(slices.Clone(u.env), "TUREEN_DATA_DIR="+u.path(fmt.Sprint("data", i)))}
			if err := os.CopyFS(u.path(fmt.Sprint("data", i)), os.DirFS(u.path("data"))); err != nil {
				t.Fatal(err)
			}
			file := s.path(fmt.Sprint("data", i), "sessions", victim+".db")
			if err := os.WriteFile(file, d.hit(slices.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			s.stillHas(t, victim, neighbour)
			s.namesDamage(t, victim, d.rest, d.all)
			before, _ := os.ReadFile(file)
			if !d.rest {
				if o := s.run(t, "session", "salvage", victim); o.exit != 9 || o.stdout != "" || !strings.Contains(o.stderr, "nothing of session "+victim+" can be read") {
					t.Errorf("salvage: exit %d, %s%s", o.exit, o.stdout, o.stderr)
				}
			} else {
				s.rescue(t, victim, d.all)
			}
			if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the damaged file was changed (%v)", err)
			}
			s.ok(t, "session", "rm", victim, "--yes")
		})
	}
}

// stillHas wants both sessions listed, and the neighbour untouched.
func (s *sandbox) stillHas(t *testing.T, victim, neighbour string) {
	t.Helper()
	statuses := map[string]string{}
	var list []session.Summary
	if err := json.Unmarshal([]byte(s.ok(t, "session", "list", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	for _, row := range list {
		statuses[row.ID] = row.Status
	}
	if len(list) != 2 || statuses[victim] == "" || statuses[neighbour] != "completed" {
		t.Errorf("sessions are %v", statuses)
	}
	s.ok(t, "session", "verify", neighbour)
	if o := s.ok(t, "session", "search", "Say hello", "--in", "prompt"); !strings.Contains(o.stdout, neighbour) {
		t.Errorf("search: %s", o.stdout)
	}
}

// namesDamage wants verify to name places that do not read, and nothing that there is
// not.
func (s *sandbox) namesDamage(t *testing.T, victim string, rest, all bool) {
	t.Helper()
	o := s.run(t, "session", "verify", victim, "--json")
	var found []struct {
		ID         string
		OK         bool
		Events     int64
		Violations []fold.Violation
	}
	if err := json.Unmarshal([]byte(o.stdout), &found); err != nil || len(found) != 1 {
		t.Fatalf("%v: %s%s", err, o.stdout, o.stderr)
	}
	storage := 0
	for _, v := range found[0].Violations {
		if v.Text == "" || (v.Seq < 1) != all {
			t.Errorf("violation %+v", v)
		}
		if v.Rule == "storage" {
			storage++
		}
	}
	if o.exit != 9 || found[0].OK || storage == 0 || found[0].ID != victim || rest != (found[0].Events > 0) {
		t.Errorf("exit %d, %+v", o.exit, found[0])
	}
	text := s.run(t, "session", "verify", victim)
	if text.exit != 9 || !strings.Contains(text.stdout, victim+" is damaged, ") || !strings.Contains(text.stdout, ": storage: ") ||
		rest != strings.Contains(text.stdout, "tureen session salvage "+victim) {
		t.Errorf("exit %d, %s", text.exit, text.stdout)
	}
}

// rescue salvages a session and goes on with it.
func (s *sandbox) rescue(t *testing.T, victim string, all bool) {
	t.Helper()
	o := s.ok(t, "session", "salvage", victim, "--json")
	var made struct {
		Session, From               string
		Events, Kept, Lost, Bridged int
		Damage                      []session.Damage
	}
	if err := json.Unmarshal([]byte(o.stdout), &made); err != nil {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	if made.From != victim || made.Session == victim || made.Kept == 0 || all != (made.Kept == made.Events) || all != (len(made.Damage) == 0) {
		t.Errorf("salvaged %+v", made)
	}
	s.ok(t, "session", "verify", made.Session)
	var shown session.Summary
	if err := json.Unmarshal([]byte(s.ok(t, "session", "show", made.Session, "--json").stdout), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.Origin == nil || shown.Origin.Session != victim || shown.Origin.How != session.HowSalvage || shown.Profile != "demo" || shown.Workspace != s.path("demo") {
		t.Errorf("the new session is %+v", shown)
	}
	var result host.Result
	o = s.ok(t, "resume", made.Session, "Say hello.", "-o", "json")
	if err := json.Unmarshal([]byte(o.stdout), &result); err != nil || result.Status != "completed" || result.Text == "" {
		t.Errorf("resumed: %v, %+v", err, result)
	}
	s.ok(t, "session", "verify", made.Session)
}

// A session is salvaged only where something is wrong with it.
func TestD1_AWholeSessionIsNotSalvaged(t *testing.T) {
	t.Parallel()
	u := user(t)
	id := importSession(t, u, session.Created{ID: stem + "w", Title: "soup"})
	o := u.ok(t, "session", "salvage", id)
	if o.stdout != id+"\n" || !strings.Contains(o.stderr, "session "+id+" is whole (1 event): nothing was made") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	if files, _ := filepath.Glob(u.path("data", "sessions", "*.db")); len(files) != 1 {
		t.Errorf("files %v", files)
	}
	if o := u.run(t, "session", "salvage", "gone"); o.exit != 9 || !strings.Contains(o.stderr, `there is no session "gone"`) {
		t.Errorf("exit %d, %s", o.exit, o.stderr)
	}
}
