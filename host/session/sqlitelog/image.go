package sqlitelog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

// image is a session's files as bytes, whatever has become of them.
type image struct {
	db, wal io.ReaderAt // wal is nil where there is none
	dbSize  int64
	size    int64            // of both
	frames  []frame          // of the write-ahead log
	latest  map[uint32]int64 // where a page lies in it
	sure    map[uint32]int64 // likewise, of whole frames: another may say a wrong page
	found   []place
	left    int64 // bytes of overflow pages that may still be read

	page   []byte // read last, from
	pageOf io.ReaderAt
	pageAt int64
}

// place is where an event may lie.
type place struct {
	seq   int64
	at    int64 // of the cell, in its file
	wal   bool
	named bool // by its page
}

// openImage opens a session's files; close them with the function.
func openImage(path string) (m *image, done func(), err error) {
	db, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	wal, err := os.Open(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		db.Close()
		return nil, nil, err
	}
	done = func() {
		db.Close()
		wal.Close() // a nil file takes it
	}
	dbSize, err := size(db)
	if err == nil && wal == nil {
		m, err = newImage(db, dbSize, nil, 0)
	} else if err == nil {
		var walSize int64
		if walSize, err = size(wal); err == nil {
			m, err = newImage(db, dbSize, wal, walSize)
		}
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return m, done, nil
}

func size(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func newImage(db io.ReaderAt, dbSize int64, wal io.ReaderAt, walSize int64) (m *image, err error) {
	m = &image{db: db, wal: wal, dbSize: dbSize, size: dbSize + walSize, latest: map[uint32]int64{}, sure: map[uint32]int64{}}
	m.left = 8*m.size + 64<<20
	if wal != nil {
		if m.frames, _, err = readFrames(wal, walSize); err != nil {
			return nil, err
		}
	}
	for _, f := range m.frames {
		m.latest[f.page] = f.at
		if f.whole {
			m.sure[f.page] = f.at
		}
	}
	return m, nil
}

// search finds the places of events in both files and puts them in the order of
// their seqs, those that their pages name first.
func (m *image) search(alive func() error) error {
	for at := int64(0); at < m.dbSize; at += pageSize {
		m.carve(m.db, at, min(pageSize, m.dbSize-at), false)
		if err := alive(); err != nil {
			return err
		}
	}
	for _, f := range m.frames {
		m.carve(m.wal, f.at, pageSize, true)
	}
	slices.SortStableFunc(m.found, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), -cmp.Compare(number(a.named), number(b.named)))
	})
	return nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *image) carve(f io.ReaderAt, at, n int64, wal bool) {
	carve(m.read(f, at, n), func(in int, seq int64, named bool) {
		if seq <= m.size { // an event takes more than a byte
			m.found = append(m.found, place{seq: seq, at: at + int64(in), wal: wal, named: named})
		}
	})
}

// read returns n bytes that lie in one page, which is kept for the next call. What
// the medium does not give reads as zeros.
func (m *image) read(f io.ReaderAt, at, n int64) []byte {
	if m.page == nil || m.pageOf != f || m.pageAt != at || int64(len(m.page)) != n {
		m.page = slices.Grow(m.page[:0], int(n))[:n]
		m.pageOf, m.pageAt = f, at
		got, _ := f.ReadAt(m.page, at)
		clear(m.page[got:])
	}
	return m.page
}

var (
	errChain = errors.New("a part of it lies outside of the file or in a page of something else")
	errCost  = errors.New("its pages lead in circles")
)

// event reads the event at a place.
func (m *image) event(p place) (session.Event, error) {
	f, start := m.db, p.at/pageSize*pageSize
	n := min(pageSize, m.dbSize-start)
	if p.wal {
		f, start, n = m.wal, walHead+(p.at-walHead)/frameSize*frameSize+frameHead, pageSize
	}
	c, ok := parseCell(m.read(f, start, n), int(p.at-start))
	if !ok {
		return session.Event{}, errChain
	}
	e, err := m.whole(&c, m.latest)
	if err != nil && c.next != 0 && len(m.sure) < len(m.frames) {
		if e, err := m.whole(&c, m.sure); err == nil {
			return e, nil
		}
	}
	return e, err
}

// whole reads an event whose overflow pages lie in the write-ahead log where inWAL
// says so, else in the database.
func (m *image) whole(c *cell, inWAL map[uint32]int64) (session.Event, error) {
	record, err := m.record(c, inWAL)
	if err != nil {
		return session.Event{}, err
	}
	return c.event(record)
}

// record puts together a cell's record.
func (m *image) record(c *cell, inWAL map[uint32]int64) ([]byte, error) {
	if c.size > m.size {
		return nil, errChain
	}
	record := slices.Clone(c.local)
	var page [pageSize]byte
	for next := c.next; int64(len(record)) < c.size; next = binary.BigEndian.Uint32(page[:]) {
		f, at := m.db, (int64(next)-1)*pageSize
		if in, ok := inWAL[next]; ok {
			f, at = m.wal, in
		}
		if m.left -= pageSize; m.left < 0 {
			return nil, errCost
		}
		if next == 0 || f == m.db && at >= m.dbSize {
			return nil, errChain
		}
		clear(page[:])
		if got, _ := f.ReadAt(page[:], at); got < 4 {
			return nil, errChain
		}
		record = append(record, page[4:min(pageSize, 4+c.size-int64(len(record)))]...)
	}
	return record, nil
}

// short tells whether the database file ends before its own head says.
func (m *image) short() bool {
	var head [100]byte
	if got, _ := m.db.ReadAt(head[:], 0); got < len(head) || m.dbSize%pageSize != 0 {
		return true
	}
	pages := binary.BigEndian.Uint32(head[28:])
	_, inWAL := m.latest[pages]
	return string(head[24:28]) == string(head[92:96]) && int64(pages)*pageSize > m.dbSize && !inWAL
}
