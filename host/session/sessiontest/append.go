package sessiontest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

var appending = []promise{
	{"FirstEvent", "a new log holds one event, session.created, with what Create was given", func(k *kit) {
		log := k.create("a")
		events := k.read(log, session.Query{})
		if len(events) != 1 || events[0].Seq != 1 || events[0].Kind != session.KindSessionCreated {
			k.Fatalf("events are %v", events)
		}
		created, err := session.Decode[session.Created](events[0])
		if err != nil {
			k.Fatal(err)
		}
		if created.ID != "a" || created.Title != "title of a" || created.Time.IsZero() || !created.Time.Equal(events[0].Time) {
			k.Errorf("payload is %+v at %s", created, events[0].Time)
		}
	}},

	{"Numbers", "Append gives seqs without gaps, whatever the event says, and returns the last", func(k *kit) {
		log := k.create("a")
		stray := note("x", "")
		stray.Seq = 77
		if head := k.append(log, stray, note("x", "")); head != 3 {
			k.Errorf("first append returns %d, want 3", head)
		}
		if head := k.append(log, note("x", "")); head != 4 || k.head(log) != 4 {
			k.Errorf("second append returns %d, head is %d, want 4", head, k.head(log))
		}
		if got := fmt.Sprint(seqs(k.read(log, session.Query{}))); got != "[1 2 3 4]" {
			k.Errorf("seqs are %s", got)
		}
	}},

	{"Conflict", "a batch made for another head is refused with ErrConflict and writes nothing", func(k *kit) {
		log := k.create("a")
		k.append(log, note("x", "mine"))
		for _, head := range []int64{0, 1, 3, -1} {
			_, err := log.Append(k.ctx, session.Batch{Head: head, Events: notes(2), Snapshot: []byte("s")})
			k.want(err, session.ErrConflict)
		}
		snapshot, _, err := log.Snapshot(k.ctx)
		if k.head(log) != 2 || snapshot != nil || err != nil {
			k.Errorf("head is %d, snapshot %q (%v); want 2 and none", k.head(log), snapshot, err)
		}
		k.append(log, note("x", "again"))
	}},

	{"AllOrNothing", "a batch of which one event cannot be stored leaves nothing behind", func(k *kit) {
		log := k.create("a")
		bad := note("x", "")
		bad.Time = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
		_, err := log.Append(k.ctx, session.Batch{Head: 1, Events: []session.Event{note("x", ""), bad}, Snapshot: []byte("s")})
		if err == nil {
			k.Error("an event of the year 9000 is taken")
		}
		if snapshot, _, _ := log.Snapshot(k.ctx); k.head(log) != 1 || snapshot != nil {
			k.Errorf("head is %d, snapshot %q; want 1 and none", k.head(log), snapshot)
		}
	}},

	{"Empty", "a batch without events changes nothing but the snapshot, and still checks the head", func(k *kit) {
		log := k.create("a")
		if head, err := log.Append(k.ctx, session.Batch{Head: 1}); head != 1 || err != nil {
			k.Errorf("append returns %d, %v; want 1", head, err)
		}
		_, err := log.Append(k.ctx, session.Batch{Head: 2})
		k.want(err, session.ErrConflict)
		if head, err := log.Append(k.ctx, session.Batch{Head: 1, Snapshot: []byte("s")}); head != 1 || err != nil {
			k.Errorf("append of a snapshot returns %d, %v; want 1", head, err)
		}
		if data, head, _ := log.Snapshot(k.ctx); string(data) != "s" || head != 1 {
			k.Errorf("snapshot is %q at %d", data, head)
		}
	}},

	{"Time", "a time is kept to the nanosecond as an instant; only a zero one is set", func(k *kit) {
		log := k.create("a")
		at := time.Date(2031, 2, 3, 4, 5, 6, 789_012_345, time.FixedZone("", -3*3600))
		given := note("x", "")
		given.Time = at
		before := time.Now()
		k.append(log, given, note("x", ""))
		after := time.Now()
		events := k.read(log, session.Query{After: 1})
		if got := events[0].Time; !got.Equal(at) || got.Location() != time.UTC {
			k.Errorf("given time comes back as %s, want %s in UTC", got, at)
		}
		if got := events[1].Time; got.Before(before) || got.After(after) {
			k.Errorf("time set is %s, want between %s and %s", got, before, after)
		}
	}},

	{"Exact", "kind, schema version, turn, step, op and payload come back to the byte", func(k *kit) {
		log := k.create("a")
		events := odd()
		k.append(log, events...)
		k.close(log)
		for i, got := range k.read(k.open("a"), session.Query{After: 1}) {
			want := events[i]
			want.Seq, want.Time = got.Seq, got.Time
			if !same(got, want) {
				k.Errorf("event %d is\n%.300s, want\n%.300s", i, print(got), print(want))
			}
		}
	}},

	{"Big", "a payload of 30 MiB is an event like another, also among small ones", func(k *kit) {
		log := k.create("a")
		big := json.RawMessage(`"` + strings.Repeat("0123456789abcdé", 30<<20/16) + `"`)
		k.append(log, note("x", "1"), session.Event{V: 1, Kind: "x", Data: big}, note("x", "2"))
		for _, reverse := range []bool{false, true} {
			events := k.read(log, session.Query{After: 1, Reverse: reverse})
			if len(events) != 3 || !bytes.Equal(events[1].Data, big) {
				k.Errorf("reverse %t: %d events come back", reverse, len(events))
			}
		}
	}},

	{"ThousandCalls", "a step of a thousand calls, three thousand events, is one append", func(k *kit) {
		log := k.create("a")
		var events []session.Event
		for i := range 1000 {
			events = append(events, note(session.KindToolStarted, fmt.Sprint(i)), note(session.KindToolSpilled, fmt.Sprint(i)), note(session.KindToolResult, fmt.Sprint(i)))
		}
		if head := k.append(log, events...); head != 3001 {
			k.Errorf("head is %d", head)
		}
		for i, got := range k.read(k.view("a"), session.Query{After: 1}) {
			want := events[i]
			want.Seq, want.Time = got.Seq, got.Time
			if got.Seq != int64(i+2) || !same(got, want) {
				k.Fatalf("event %d is %s", i+2, print(got))
			}
		}
	}},

	{"Owned", "the caller keeps its batch: changing it later does not change the log", func(k *kit) {
		log := k.create("a")
		b := session.Batch{Head: 1, Events: []session.Event{note("x", "kept").On(session.Op{Kind: session.OpAppend})}, Snapshot: []byte("kept")}
		if _, err := log.Append(k.ctx, b); err != nil {
			k.Fatal(err)
		}
		copy(b.Events[0].Data, "XXXX")
		b.Events[0].Op.Kind = session.OpDrop
		copy(b.Snapshot, "XXXX")
		got := k.read(log, session.Query{After: 1})[0]
		data, _, _ := log.Snapshot(k.ctx)
		if string(got.Data) != `{"text":"kept"}` || got.Op.Kind != session.OpAppend || string(data) != "kept" {
			k.Errorf("event is %s, snapshot %q", print(got), data)
		}
	}},

	{"Snapshot", "a snapshot comes back with the head of its batch until the next one replaces it", func(k *kit) {
		log := k.create("a")
		if data, _, err := log.Snapshot(k.ctx); data != nil || err != nil {
			k.Errorf("a new log has snapshot %q (%v)", data, err)
		}
		for i, snapshot := range []string{"one\x00", strings.Repeat("two", 1<<20), "3"} {
			head, err := log.Append(k.ctx, session.Batch{Head: k.head(log), Events: notes(2), Snapshot: []byte(snapshot)})
			if err != nil {
				k.Fatal(err)
			}
			k.append(log, note("x", "")) // takes no snapshot away
			for _, r := range []session.Reader{log, k.view("a")} {
				data, at, err := r.Snapshot(k.ctx)
				if string(data) != snapshot || at != head || err != nil {
					k.Errorf("snapshot %d is %.20q at %d (%v), want %.20q at %d", i, data, at, err, snapshot, head)
				}
			}
		}
	}},

	{"Cancelled", "Append with a context that is done writes nothing", func(k *kit) {
		log := k.create("a")
		ctx, cancel := context.WithCancel(k.ctx)
		cancel()
		_, err := log.Append(ctx, session.Batch{Head: 1, Events: notes(1)})
		k.want(err, context.Canceled)
		if k.head(log) != 1 {
			k.Errorf("head is %d, want 1", k.head(log))
		}
	}},

	{"CancelledMidway", "Append with a context that ends meanwhile stores the batch or does not, and its error tells which", func(k *kit) {
		log := k.create("a")
		head := int64(1)
		for i := range 80 {
			ctx, cancel := context.WithCancel(k.ctx)
			go func() {
				time.Sleep(time.Duration(i*40) * time.Microsecond)
				cancel()
			}()
			next, err := log.Append(ctx, session.Batch{Head: head, Events: notes(8)})
			cancel()
			if err == nil {
				head = next
			} else {
				k.want(err, context.Canceled)
			}
			if got := k.head(log); got != head {
				k.Fatalf("head is %d after %v, want %d", got, err, head)
			}
		}
	}},

	{"OneWins", "of concurrent appends for the same head exactly one is stored", func(k *kit) {
		log := k.create("a")
		const writers = 8
		errs := make(chan error, writers)
		for i := range writers {
			go func() {
				_, err := log.Append(k.ctx, session.Batch{Head: 1, Events: []session.Event{note("x", fmt.Sprint(i))}})
				errs <- err
			}()
		}
		stored := 0
		for range writers {
			if err := <-errs; err == nil {
				stored++
			} else if !errors.Is(err, session.ErrConflict) {
				k.Errorf("append: %v", err)
			}
		}
		if stored != 1 || k.head(log) != 2 {
			k.Errorf("%d appends are stored, head is %d", stored, k.head(log))
		}
	}},
}

// odd makes events that a store might think it knows better than.
func odd() []session.Event {
	raw := func(kind session.Kind, data string) session.Event {
		return session.Event{V: session.SchemaVersion, Kind: kind, Data: json.RawMessage(data)}
	}
	return []session.Event{
		raw("kind.nobody-knows", `{"b":1,"a":2,  "a":3}`),
		raw("x", `{"text":"nul \u0000 and \ud83e\udd63"}`),
		raw("x", "\"raw nul \x00 and bad utf-8 \xff\xfe\""),
		raw("x", `{"text":"lone \ud800 and \udfff, backwards \udc00\ud800"}`),
		raw("x", `{"text":"W\u0000s\u0000l\u0000"}`),
		raw("x", "\"\x1b]52;c;aGk=\x07\x1b[2J\x1b[6n\x1bPq\x1b\\ \u009b31m \u202e \r\""),
		raw("x", "\"cut in a rune \xf0\x9f\x98\""),
		raw("x", "\"🥣 e\u0301 \u2028\""),
		raw("x", " [1.0, 1e400, 12345678901234567890]\n"),
		raw("x", "null"),
		raw("x", ""),
		raw("kind \x00 'quoted\" ?", `{}`),
		raw("", `{}`),
		{Kind: "version.zero"},
		raw("x", "{}").At(1<<40, 7),
		raw("x", "{}").On(session.Op{Kind: session.OpAppend}),
		raw("x", "{}").On(session.Op{Kind: session.OpReplace, From: 2, To: 1 << 60}),
		raw("x", "{}").On(session.Op{Kind: session.OpInsert, After: 3}),
		raw("x", "{}").On(session.Op{Kind: session.OpDrop, From: 1, To: 1}),
		raw("x", "{}").On(session.Op{Kind: "turn-over"}),
		raw("x", "{}").On(session.Op{}),
	}
}
