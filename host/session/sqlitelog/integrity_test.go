package sqlitelog_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// TestD1_WhatReadsAndInspectsSoundIsWhole: after any one change of a byte, either
// something is said to be wrong, or every event is read, all of them and by kind.
func TestD1_WhatReadsAndInspectsSoundIsWhole(t *testing.T) {
	t.Parallel()
	sp := makeSpecimen()
	dir := t.TempDir()
	s, err := sqlitelog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rapid.Check(t, func(rt *rapid.T) {
		file := bytes.Clone(sp.closed)
		page := rapid.IntRange(0, len(file)/4096-1).Draw(rt, "page") // most pages hold payloads; those of trees want their share
		if rapid.Bool().Draw(rt, "tree") {
			page = rapid.SampledFrom(trees(file)).Draw(rt, "tree page")
		}
		at := page*4096 + rapid.IntRange(0, 4095).Draw(rt, "at")
		file[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "bits"))
		plant(rt, dir, "a", file, nil)
		r, err := s.View(t.Context(), "a")
		if err != nil {
			return
		}
		defer r.Close()
		if found, err := r.(session.Inspector).Inspect(t.Context()); err != nil || len(found) > 0 {
			return
		}
		for _, kinds := range [][]session.Kind{nil, {session.KindMessageUser}, {session.KindRecord, "k"}} {
			var want, got []int64
			for _, e := range sp.events {
				if kinds == nil || slices.Contains(kinds, e.Kind) {
					want = append(want, e.Seq)
				}
			}
			for e, err := range r.Read(t.Context(), session.Query{Kinds: kinds}) {
				if err != nil {
					return
				}
				got = append(got, e.Seq)
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("byte %d of page %d was changed and nothing said; of kinds %q %d of %d events are read", at%4096, page+1, kinds, len(got), len(want))
			}
		}
	})
}

// trees are the pages that are not leaves of a table.
func trees(file []byte) (pages []int) {
	for page := range len(file) / 4096 {
		at := page * 4096
		if page == 0 {
			at = 100
		}
		if kind := file[at]; kind == 2 || kind == 5 || kind == 10 {
			pages = append(pages, page)
		}
	}
	return pages
}
