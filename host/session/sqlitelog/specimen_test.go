package sqlitelog_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// specimen is a session of many forms of events, as bytes, with its write-ahead log
// and without.
type specimen struct {
	events  []session.Event
	closed  []byte     // the database of the session after Close
	db, wal []byte     // the files while it is owned
	ends    [][2]int64 // of each append: the head, and how long the write-ahead log was then
}

// token is a mark that each stretch of an event's payload has.
func token(seq int64) string { return fmt.Sprintf("[%07d]", seq) }

var makeSpecimen = sync.OnceValue(func() *specimen {
	dir, err := os.MkdirTemp("", "sqlitelog")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	sp, err := newSpecimen(dir)
	if err != nil {
		panic(err)
	}
	return sp
})

// newSpecimen appends events of 30 to 40,000 bytes, common and rare, in batches of
// one to forty, with snapshots, so that pages of all sorts lie between each other.
func newSpecimen(dir string) (*specimen, error) {
	ctx := context.Background()
	s, err := sqlitelog.Open(dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	log, err := s.Create(ctx, session.Created{ID: "a", Title: token(1)})
	if err != nil {
		return nil, err
	}
	defer func() { log.Close() }()
	sp, again := &specimen{}, false
	kinds := []session.Kind{session.KindToolResult, session.KindRecord, session.KindMessageUser, "k", session.KindStepEnded}
	sizes := []int{2, 30, 3, 60, 1, 600, 5, 44, 4000, 7}
	for head := int64(1); head < 400; {
		if head > 150 && !again { // so far it is in the database, from here on in the write-ahead log
			again = true
			if err := log.Close(); err != nil {
				return nil, err
			}
			if log, err = s.Open(ctx, "a"); err != nil {
				return nil, err
			}
		}
		b := session.Batch{Head: head}
		for range 1 + head%40 {
			seq := head + int64(len(b.Events)) + 1
			e := session.New(kinds[seq%5], strings.Repeat(token(seq), sizes[seq%10]))
			if seq%3 == 0 {
				e = e.On(session.Op{Kind: session.OpAppend})
			}
			b.Events = append(b.Events, e.At(int(seq/50), int(seq%50)))
		}
		if head%7 == 0 {
			b.Snapshot = bytes.Repeat([]byte("snapshot"), int(head)*5)
		}
		if head, err = log.Append(ctx, b); err != nil {
			return nil, err
		}
		info, err := os.Stat(path(dir, "a") + "-wal")
		if err != nil {
			return nil, err
		}
		sp.ends = append(sp.ends, [2]int64{head, info.Size()})
	}
	for e, err := range log.Read(ctx, session.Query{}) {
		if err != nil {
			return nil, err
		}
		sp.events = append(sp.events, e)
	}
	sp.db, _ = os.ReadFile(path(dir, "a"))
	sp.wal, _ = os.ReadFile(path(dir, "a") + "-wal")
	if err := log.Close(); err != nil {
		return nil, err
	}
	sp.closed, err = os.ReadFile(path(dir, "a"))
	return sp, err
}

// extents are the stretches of a file in which the events have all their bytes: of
// a leaf those around their marks, of an overflow page the whole of it. They are
// found by the marks alone.
func (sp *specimen) extents(file []byte, head, frame int) map[int64][][2]int {
	in := map[int64][][2]int{}
	for start := head; start+4096 <= len(file); start += 4096 + frame {
		page := file[start+frame : start+frame+4096]
		for seq, span := range marks(page) {
			span = [2]int{start + frame + max(0, span[0]-90), start + frame + min(4096, span[1]+20)}
			if frame > 0 || page[0] != 0x0d && start > 0 {
				span[0] = start // with what stands before the page
			}
			if page[0] != 0x0d && start > 0 {
				span[1] = start + frame + 4096
			}
			in[seq] = append(in[seq], span)
		}
	}
	return in
}

// marks are the first and last place of each event's marks in a page. A mark may
// be cut by the page's ends.
func marks(page []byte) map[int64][2]int {
	found := map[int64][2]int{}
	for at := 0; ; at++ {
		next := bytes.IndexByte(page[at:], '[')
		if at += next; next < 0 || at+9 > len(page) {
			return found
		}
		var seq int64
		if n, _ := fmt.Sscanf(string(page[at:at+9]), "[%07d]", &seq); n == 1 && page[at+8] == ']' {
			if span, ok := found[seq]; ok {
				found[seq] = [2]int{span[0], at + 9}
			} else {
				found[seq] = [2]int{at, at + 9}
			}
		}
	}
}

// harm is what befell a file.
type harm struct {
	at   []int // bytes that were changed
	from int   // and cut off
}

func (h harm) touches(spans [][2]int) bool {
	for _, s := range spans {
		if s[1] > h.from || slices.ContainsFunc(h.at, func(at int) bool { return at >= s[0] && at < s[1] }) {
			return true
		}
	}
	return len(spans) == 0
}

// drawHarm changes a copy of file.
func drawHarm(t *rapid.T, file []byte) ([]byte, harm) {
	file = bytes.Clone(file)
	h := harm{from: len(file)}
	set := func(at int, b byte) {
		if at < len(file) && file[at] != b {
			file[at] = b
			h.at = append(h.at, at)
		}
	}
	page := rapid.IntRange(0, len(file)/4096-1)
	for range rapid.IntRange(1, 3).Draw(t, "harms") {
		switch rapid.SampledFrom([]string{"flip", "flips", "head", "zero", "noise", "swap", "cut"}).Draw(t, "harm") {
		case "flip":
			at := rapid.IntRange(0, len(file)-1).Draw(t, "at")
			set(at, file[at]^1<<rapid.IntRange(0, 7).Draw(t, "bit"))
		case "flips":
			for range 20 {
				set(rapid.IntRange(0, len(file)-1).Draw(t, "at"), rapid.Byte().Draw(t, "byte"))
			}
		case "head": // of a page, where its structure is
			set(page.Draw(t, "page")*4096+rapid.IntRange(0, 30).Draw(t, "in"), rapid.Byte().Draw(t, "byte"))
		case "zero":
			at := page.Draw(t, "page") * 4096
			for i := range 4096 {
				set(at+i, 0)
			}
		case "noise":
			at, noise := page.Draw(t, "page")*4096, rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "noise")
			for i := range 4096 {
				set(at+i, noise[i%64])
			}
		case "swap":
			from, to := page.Draw(t, "from")*4096, page.Draw(t, "to")*4096
			for i := range 4096 {
				if from+i < len(file) {
					set(to+i, file[from+i])
				}
			}
		case "cut":
			h.from = rapid.IntRange(0, len(file)).Draw(t, "length")
			file = file[:h.from]
			return file, h
		}
	}
	return file, h
}
