package sessiontest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

var reading = []promise{
	{"Queries", "After and Before are exclusive bounds, Kinds and Limit narrow, Reverse turns the order", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(9)...) // 2..10: odd seqs are records
		result, record := session.KindToolResult, session.KindRecord
		for _, c := range []struct {
			q    session.Query
			want []int64
		}{
			{session.Query{}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
			{session.Query{After: 7}, []int64{8, 9, 10}},
			{session.Query{After: 10}, []int64{}},
			{session.Query{After: 99}, []int64{}},
			{session.Query{After: -5, Before: 3}, []int64{1, 2}},
			{session.Query{Before: 1}, []int64{}},
			{session.Query{Before: 99, After: 8}, []int64{9, 10}},
			{session.Query{After: 5, Before: 5}, []int64{}},
			{session.Query{After: 8, Before: 3}, []int64{}},
			{session.Query{After: 3, Before: 7}, []int64{4, 5, 6}},
			{session.Query{Reverse: true, Limit: 3}, []int64{10, 9, 8}},
			{session.Query{After: 3, Before: 7, Reverse: true}, []int64{6, 5, 4}},
			{session.Query{Limit: 2}, []int64{1, 2}},
			{session.Query{Limit: 99, After: 8}, []int64{9, 10}},
			{session.Query{Kinds: []session.Kind{record}}, []int64{3, 5, 7, 9}},
			{session.Query{Kinds: []session.Kind{record}, Reverse: true, Limit: 2}, []int64{9, 7}},
			{session.Query{Kinds: []session.Kind{result, record}, After: 4, Limit: 3}, []int64{5, 6, 7}},
			{session.Query{Kinds: []session.Kind{result, session.KindSessionCreated}, Before: 5}, []int64{1, 2, 4}},
			{session.Query{Kinds: []session.Kind{"none", "such"}}, []int64{}},
		} {
			for _, r := range []session.Reader{log, k.view("a")} {
				if got := seqs(k.read(r, c.q)); !slices.Equal(got, c.want) {
					k.Errorf("%+v selects %v, want %v", c.q, got, c.want)
				}
			}
		}
	}},

	{"Long", "a log of some thousand events reads in order, both ways, whole or in parts", func(k *kit) {
		log := k.create("a")
		const n = 3000
		k.append(log, notes(n-1)...)
		for _, reverse := range []bool{false, true} {
			for _, limit := range []int{0, 1, 31, 32, 33, 1500} {
				got := seqs(k.read(log, session.Query{Reverse: reverse, Limit: limit}))
				want := n
				if limit > 0 {
					want = limit
				}
				for i, seq := range got {
					next := int64(i + 1)
					if reverse {
						next = n - int64(i)
					}
					if seq != next {
						k.Fatalf("limit %d, reverse %t: event %d has seq %d", limit, reverse, i, seq)
					}
				}
				if len(got) != want {
					k.Errorf("limit %d, reverse %t: %d events", limit, reverse, len(got))
				}
			}
		}
		if got := k.read(log, session.Query{Kinds: []session.Kind{session.KindRecord}}); len(got) != n/2-1 {
			k.Errorf("%d records, want %d", len(got), n/2-1)
		}
	}},

	{"Text", "what holds a text comes, in whatever case, in order; what comes besides is within the other bounds too", func(k *kit) {
		log := k.create("a")
		var events []session.Event
		for i := range 1500 {
			text := fmt.Sprintf("item %d, Straße KELVIN", i)
			if i%500 == 7 {
				text += " the Needle \u212a"
			}
			events = append(events, session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, text)}), note(session.KindRecord, text))
		}
		k.append(log, events...) // 2..3001; needles at 16, 1016 and 2016
		for _, c := range []struct {
			q    session.Query
			want []int64
		}{
			{session.Query{Text: "NEEDLE k"}, []int64{16, 1016, 2016}},
			{session.Query{Text: "needle", Reverse: true}, []int64{2016, 1016, 16}},
			{session.Query{Text: "needle", After: 16, Before: 2016}, []int64{1016}},
			{session.Query{Text: "item 1499, straße"}, []int64{3000}},
			{session.Query{Text: "the needle", Kinds: []session.Kind{session.KindRecord}}, nil},
			{session.Query{Text: "no such thing"}, nil},
		} {
			for _, r := range []session.Reader{log, k.view("a")} {
				all, got := seqs(k.read(r, c.q)), []int64(nil)
				plain := c.q
				plain.Text = ""
				whole := seqs(k.read(r, plain))
				for _, seq := range all {
					if !slices.Contains(whole, seq) {
						k.Errorf("%+v selects %d as well", c.q, seq)
					}
					if slices.Contains(c.want, seq) {
						got = append(got, seq)
					}
				}
				if !slices.Equal(got, c.want) {
					k.Errorf("%+v selects %v of %v", c.q, got, c.want)
				}
				limited := c.q
				limited.Limit = 2
				if n := len(k.read(r, limited)); n > 2 || n < min(2, len(c.want)) {
					k.Errorf("%+v selects %d", limited, n)
				}
			}
		}
	}},

	{"Twice", "what Read returns can be ranged over again, and be broken off", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(500)...)
		all := log.Read(k.ctx, session.Query{})
		for range 3 {
			n := int64(0)
			for e, err := range all {
				if n++; err != nil || e.Seq != n {
					k.Fatalf("event %d is %d (%v)", n, e.Seq, err)
				}
				if n == 40 {
					break
				}
			}
		}
		k.append(log, note("x", "")) // a broken-off iteration is in nobody's way
		k.close(log)
	}},

	{"WhileReading", "a reader may append and read within its iteration, which ends at the head it began with", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(99)...)
		n := 0
		for _, err := range log.Read(k.ctx, session.Query{}) {
			if err != nil {
				k.Fatal(err)
			}
			if n++; n > 100 {
				k.Fatal("the iteration shows events appended meanwhile")
			}
			head := k.append(log, note("x", ""))
			if got := k.read(log, session.Query{Reverse: true, Limit: 1}); len(got) != 1 || got[0].Seq != head {
				k.Fatalf("a read within the iteration ends at %v, want %d", seqs(got), head)
			}
		}
		if n != 100 {
			k.Errorf("%d events, want 100", n)
		}
	}},

	{"ReadCancelled", "a context that is done ends a read with its error, yielded last", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(2000)...)
		ctx, cancel := context.WithCancel(k.ctx)
		defer cancel()
		var last error
		n := 0
		for _, err := range log.Read(ctx, session.Query{}) {
			if last != nil {
				k.Fatal("something is yielded after an error")
			}
			last = err
			n++
			cancel()
		}
		k.want(last, context.Canceled)
		if n > 1000 {
			k.Errorf("%d events come after the context is done", n)
		}
	}},

	{"BesideWriter", "readers, of the log and of views, see whole batches while the writer appends", func(k *kit) {
		log := k.create("a")
		const batches, batch, readers = 40, 5, 4
		var wg sync.WaitGroup
		for i := range readers {
			var r session.Reader = log
			if i%2 == 0 {
				r = k.view("a")
			}
			wg.Go(func() {
				for head := int64(0); head < 1+batches*batch; {
					events, err := collect(k.ctx, r, session.Query{})
					if err != nil {
						k.Errorf("read: %v", err)
						return
					}
					head = int64(len(events))
					if (head-1)%batch != 0 || events[head-1].Seq != head {
						k.Errorf("%d events are seen, the last is %d", head, events[head-1].Seq)
						return
					}
				}
			})
		}
		for range batches {
			k.append(log, notes(batch)...)
		}
		wg.Wait()
	}},

	{"View", "a view reads what the log holds, also what is appended after it was opened", func(k *kit) {
		log := k.create("a")
		view := k.view("a")
		k.append(log, notes(3)...)
		if view.ID() != "a" || log.ID() != "a" {
			k.Errorf("ids are %q and %q", view.ID(), log.ID())
		}
		if !reflect.DeepEqual(seqs(k.read(view, session.Query{})), []int64{1, 2, 3, 4}) || k.head(view) != 4 {
			k.Errorf("view is at %d", k.head(view))
		}
		if _, ok := view.(session.Log); ok {
			k.Error("a view can append")
		}
	}},

	{"ReadClosed", "after Close a reader answers with an error and yields nothing else", func(k *kit) {
		log := k.create("a")
		view := k.view("a")
		k.close(log)
		k.close(view)
		for _, r := range []session.Reader{log, view} {
			if events, err := collect(k.ctx, r, session.Query{}); err == nil || len(events) > 0 {
				k.Errorf("read after Close: %d events, %v", len(events), err)
			}
			if _, err := r.Head(k.ctx); err == nil {
				k.Error("Head works after Close")
			}
			if _, _, err := r.Snapshot(k.ctx); err == nil {
				k.Error("Snapshot works after Close")
			}
		}
	}},

	{"Unordered", "Kinds is a set: order and repetition do not matter", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(6)...)
		r, t := session.KindRecord, session.KindToolResult
		want := fmt.Sprint(seqs(k.read(log, session.Query{Kinds: []session.Kind{r, t}})))
		for _, kinds := range [][]session.Kind{{t, r}, {r, r, t}, {t, r, "z", t}} {
			if got := fmt.Sprint(seqs(k.read(log, session.Query{Kinds: kinds}))); got != want {
				k.Errorf("%v selects %s, want %s", kinds, got, want)
			}
		}
	}},
}
