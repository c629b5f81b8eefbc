package sessiontest

import (
	"fmt"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

var listing = []promise{
	{"ListEmpty", "an empty store lists nothing, without an error", func(k *kit) {
		if list := k.list(); len(list) != 0 {
			k.Errorf("list is %v", list)
		}
	}},

	{"ListOrder", "List puts the session created last first", func(k *kit) {
		day := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		k.createAt("m", day.Add(2*time.Hour))
		k.createAt("z", day)
		k.createAt("a", day.Add(3*time.Hour))
		k.createAt("c", day.Add(time.Hour))
		k.createAt("d", day.Add(time.Hour))
		var ids []string
		for _, s := range k.list() {
			ids = append(ids, s.ID)
		}
		if got := strings.Join(ids, " "); got != "a m d c z" {
			k.Errorf("order is %s", got)
		}
		if id, err := k.store.Resolve(k.ctx, "last"); id != "a" {
			k.Errorf("last is %q (%v), want a", id, err)
		}
	}},

	{"ListChild", "a subagent's summary names its parent, and last passes over it; only where there is none of a person's own it is taken", func(k *kit) {
		day := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		child := session.Created{ID: "b", Time: day.Add(time.Hour), Parent: "a", Depth: 1}
		if _, err := k.store.Create(k.ctx, child); err != nil {
			k.Fatal(err)
		}
		if id, err := k.store.Resolve(k.ctx, "last"); id != "b" {
			k.Errorf("last is %q (%v), want b", id, err)
		}
		k.createAt("a", day)
		if list := k.list(); len(list) != 2 || list[0].ID != "b" || list[0].Parent != "a" || list[1].Parent != "" {
			k.Errorf("list is %+v", list)
		}
		if id, err := k.store.Resolve(k.ctx, "last"); id != "a" {
			k.Errorf("last is %q (%v), want a", id, err)
		}
	}},

	{"ListArchived", "a summary tells whether the session is archived, at once; last passes over those that are, unless there is no other of a person's own", func(k *kit) {
		day := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		archive := func(log session.Log, yes bool) {
			k.append(log, session.New(session.KindSessionArchived, session.Archived{Archived: yes}))
		}
		last := func(want string) {
			k.Helper()
			if id, err := k.store.Resolve(k.ctx, "last"); id != want {
				k.Errorf("last is %q (%v), want %q", id, err, want)
			}
		}
		a, b := k.createAt("a", day), k.createAt("b", day.Add(time.Hour))
		if _, err := k.store.Create(k.ctx, session.Created{ID: "c", Time: day.Add(2 * time.Hour), Parent: "b", Depth: 1}); err != nil {
			k.Fatal(err)
		}
		last("b")
		archive(b, true)
		last("a")
		k.append(b, notes(3)...)
		k.close(b)
		if list := k.list(); !list[1].Archived || list[0].Archived || list[2].Archived || list[1].Events != 5 {
			k.Errorf("list is %+v", list)
		}
		archive(a, true)
		last("b")
		b = k.open("b")
		archive(b, false)
		last("b")
		if list := k.list(); list[1].Archived || !list[2].Archived {
			k.Errorf("list is %+v", list)
		}
	}},

	{"ListOrigin", "a summary names the log that a session was made from", func(k *kit) {
		want := session.Origin{Session: "older", Seq: 7, How: session.HowFork}
		log, err := k.store.Create(k.ctx, session.Created{ID: "a", Origin: &want})
		if err != nil {
			k.Fatal(err)
		}
		for range 2 {
			if s := k.list()[0]; s.Origin == nil || *s.Origin != want {
				k.Errorf("origin is %+v, want %+v", s.Origin, want)
			}
			k.append(log, notes(3)...)
			k.close(log)
			log = k.open("a")
		}
	}},

	{"ListClock", "a clock that goes back changes the times and nothing else: seqs go on, and the order of the sessions is that of their creation", func(k *kit) {
		day := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		a := k.createAt("a", day)
		k.createAt("b", day.Add(-time.Hour))
		var want []time.Time
		for i, by := range []time.Duration{time.Hour, -48 * time.Hour, time.Minute, -time.Nanosecond} {
			e := note("x", fmt.Sprint(i))
			e.Time = day.Add(by)
			want = append(want, e.Time)
			k.append(a, e)
		}
		for i, e := range k.read(a, session.Query{After: 1}) {
			if e.Seq != int64(i+2) || !e.Time.Equal(want[i]) {
				k.Errorf("event %d is of %s, want %d of %s", e.Seq, e.Time, i+2, want[i])
			}
		}
		k.close(a)
		if l := k.list(); l[0].ID != "a" || l[1].ID != "b" || !l[0].Created.Equal(day) || !l[0].Updated.Equal(want[3]) {
			k.Errorf("list is %+v", l)
		}
	}},

	{"Summary", "a summary holds what Create was given, the first and last times and the number of events", func(k *kit) {
		at := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
		log := k.createAt("a", at)
		later := note("x", strings.Repeat("y", 500))
		later.Time = at.Add(time.Minute)
		k.append(log, later)
		for _, state := range []string{"open", "closed"} {
			s := k.list()[0]
			if s.ID != "a" || s.Title != "title of a" || s.Profile != "demo" || s.Strategy != "notesoup" || s.Workspace != "/srv/a" {
				k.Errorf("%s: summary is %+v", state, s)
			}
			if !s.Created.Equal(at) || !s.Updated.Equal(later.Time) || s.Events != 2 || s.Bytes < 500 {
				k.Errorf("%s: summary is %+v", state, s)
			}
			k.close(log)
		}
	}},

	{"Status", "the status is idle before the first turn, running in a turn, then the reason of the last end; it is right at once, in an open session too", func(k *kit) {
		log := k.create("a")
		check := func(status string, turns int) {
			k.Helper()
			if s := k.list()[0]; s.Status != status || s.Turns != turns || s.Events != k.head(log) {
				k.Errorf("status %s, %d turns, %d events; want %s, %d and %d", s.Status, s.Turns, s.Events, status, turns, k.head(log))
			}
		}
		check("idle", 0)
		k.append(log, note(session.KindInboxQueued, ""))
		check("idle", 0)
		k.append(log, started(1), note("x", ""))
		check("running", 1)
		k.append(log, notes(3)...)
		check("running", 1)
		k.append(log, ended(session.ReasonCompleted))
		check("completed", 1)
		k.append(log, note(session.KindRecord, ""))
		check("completed", 1)
		k.append(log, started(2), ended(session.ReasonLimit), started(3), ended(session.ReasonCancelled))
		check("cancelled", 3)
		k.append(log, started(4))
		k.close(log)
		log = k.open("a")
		check("running", 4)
		k.append(log, ended(session.ReasonError))
		k.close(log)
		log = k.open("a")
		check("error", 4)
	}},

	{"ListNewer", "a session that a newer version wrote to is listed with the status newer", func(k *kit) {
		log := k.create("a")
		future := note("x", "")
		future.V = session.SchemaVersion + 1
		k.append(log, future)
		k.close(log)
		k.create("b")
		list := k.list()
		if len(list) != 2 || list[1].Status != "newer" || list[1].Title != "title of a" || list[0].Status != "idle" {
			k.Errorf("list is %+v", list)
		}
	}},

	{"Resolve", "Resolve takes an id, the beginning of exactly one id in any case, or last", func(k *kit) {
		for _, id := range []string{"01abc", "01abd", "01ab", "02x"} {
			k.create(id)
		}
		for prefix, want := range map[string]string{
			"01abc": "01abc", "01ab": "01ab", "02": "02x", "0": "", "01": "", "01a": "", "01abcd": "", "03": "", "": "", "02X": "02x", "../02x": "",
		} {
			id, err := k.store.Resolve(k.ctx, prefix)
			if id != want || (err == nil) != (want != "") {
				k.Errorf("%q resolves to %q (%v), want %q", prefix, id, err, want)
			}
		}
	}},

	{"ResolveErrors", "Resolve names the candidates of an ambiguous prefix; one that fits none is ErrNotFound", func(k *kit) {
		_, err := k.store.Resolve(k.ctx, "last")
		k.want(err, session.ErrNotFound)
		for i := range 12 {
			k.create(fmt.Sprintf("01-%02d", i))
		}
		k.create("02-a")
		k.create("02-b")
		_, err = k.store.Resolve(k.ctx, "02")
		if err == nil || !strings.Contains(err.Error(), "02-a") || !strings.Contains(err.Error(), "02-b") {
			k.Errorf("error is %v", err)
		}
		if _, err = k.store.Resolve(k.ctx, "01"); err == nil || len(err.Error()) > 300 {
			k.Errorf("error is %v", err)
		}
		_, err = k.store.Resolve(k.ctx, "03")
		k.want(err, session.ErrNotFound)
	}},

	{"StoreClosed", "a closed store answers with errors, a second Close does nothing, and logs that are open go on", func(k *kit) {
		log := k.create("a")
		k.close(k.store)
		k.close(k.store)
		if _, err := k.store.List(k.ctx); err == nil {
			k.Error("List works after Close")
		}
		if _, err := k.store.View(k.ctx, "a"); err == nil {
			k.Error("View works after Close")
		}
		k.append(log, started(1), ended(session.ReasonCompleted))
		k.close(log)
	}},
}
