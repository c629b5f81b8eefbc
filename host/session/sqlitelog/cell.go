package sqlitelog

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// What SQLite's file format says of pages of the size that all session files have.
const (
	pageSize  = 4096
	maxLocal  = pageSize - 35             // of a payload, in a table's leaf
	minLocal  = (pageSize-12)*32/255 - 23 // where it goes on in overflow pages
	chainData = pageSize - 4              // of a payload, in an overflow page
	tableLeaf = 0x0d                      // a page's first byte
	maxRecord = 1 << 30                   // SQLite has no longer ones
	leastCell = 2 + 12                    // two lengths and the header of a record
	column11  = 11                        // columns of the events before there were sums
	columns12 = 12                        // and since
	maxHeader = 1 + columns12 + 1 + 4     // a kind of more than 57 bytes, a payload of any length
	minHeader = 1 + column11              // all types in one byte each
	reach     = 9 + 9                     // two varints before a header
)

// cell is a row of the events table as it lies in a page.
type cell struct {
	seq    int64
	size   int64  // of its record
	local  []byte // what the page has of it
	next   uint32 // the first overflow page, 0 = none
	length int    // of the cell
	header int    // where the record begins in the page
	body   int    // where the values begin in the record
	types  [columns12]uint64
	sums   bool
}

// parseCell reads the cell at a place of a page, if it can be one of an event: its
// record has the columns of one, in types that they can have, and exactly their length.
func parseCell(page []byte, at int) (c cell, ok bool) {
	size, n := varint(page[at:])
	seq, m := varint(page[at+n:])
	if n == 0 || m == 0 || size < leastCell || size > maxRecord || seq == 0 || seq > 1<<62 {
		return c, false
	}
	c.seq, c.size, c.header = int64(seq), int64(size), at+n+m
	if !c.parseHeader(page[c.header:]) {
		return c, false
	}
	local := localSize(c.size)
	end := c.header + local
	if end > len(page) {
		return c, false
	}
	c.local = page[c.header:end]
	if int64(local) < c.size {
		if end+4 > len(page) {
			return c, false
		}
		c.next = binary.BigEndian.Uint32(page[end:])
		end += 4
	}
	c.length = end - at
	return c, true
}

// parseHeader reads the types of a record.
func (c *cell) parseHeader(b []byte) bool {
	if len(b) < minHeader || b[0] < minHeader || b[0] > maxHeader+1 || int(b[0]) > len(b) {
		return false
	}
	c.body = int(b[0])
	size, count := int64(c.body), 0
	for at := 1; at < c.body; count++ {
		t, n := varint(b[at:c.body])
		if n == 0 || count == columns12 || !allowed[count](t) {
			return false
		}
		c.types[count] = t
		size += typeSize(t)
		at += n
	}
	c.sums = count == columns12
	return count >= column11 && size == c.size
}

// allowed are the types that the columns can have: seq stands beside the record.
var allowed = [columns12]func(t uint64) bool{
	isNull, isInt, isInt, isText, isInt, isInt,
	func(t uint64) bool { return isNull(t) || isText(t) },
	isInt, isInt, isInt,
	func(t uint64) bool { return isNull(t) || t >= 12 && t%2 == 0 },
	func(t uint64) bool { return isNull(t) || isInt(t) },
}

func isNull(t uint64) bool { return t == 0 }
func isInt(t uint64) bool  { return t >= 1 && t <= 6 || t == 8 || t == 9 }
func isText(t uint64) bool { return t >= 13 && t%2 == 1 }

func typeSize(t uint64) int64 {
	if t >= 12 {
		return int64(min(t, 4*maxRecord)-12) / 2
	}
	return [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}[t]
}

// localSize is how much of a record of that size lies in its leaf.
func localSize(size int64) int {
	if size <= maxLocal {
		return int(size)
	}
	if k := minLocal + (size-minLocal)%chainData; k <= maxLocal {
		return int(k)
	}
	return minLocal
}

// varint reads one of SQLite's; n is its length, 0 where b ends before it.
func varint(b []byte) (v uint64, n int) {
	for i, x := range b {
		if i == 8 {
			return v<<8 | uint64(x), 9
		}
		v = v<<7 | uint64(x&0x7f)
		if x < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

var (
	errNoSum = errors.New("it has no checksum, and was stored since events have them") // a row from before lacks the column
	errSum   = errors.New("its bytes are not those that were stored (the checksum differs)")
	errJSON  = errors.New("its payload is no JSON, and it has no checksum")
)

// event makes the event of a whole record. One that was stored without a sum must
// have a payload that is JSON.
func (c *cell) event(record []byte) (session.Event, error) {
	at := int64(c.body)
	next := func(i int) []byte {
		b := record[at : at+typeSize(c.types[i])]
		at += int64(len(b))
		return b
	}
	number := func(i int) int64 { return integer(c.types[i], next(i)) }
	e := session.Event{Seq: c.seq, V: int(number(1)), Time: time.Unix(0, number(2)).UTC(),
		Kind: session.Kind(next(3)), Turn: int(number(4)), Step: int(number(5))}
	kind := session.OpKind(next(6))
	op := session.Op{Kind: kind, From: number(7), To: number(8), After: number(9)}
	if c.types[6] != 0 {
		e.Op = &op
	}
	if data := next(10); len(data) > 0 {
		e.Data = json.RawMessage(data)
	}
	switch {
	case c.sums && c.types[11] == 0:
		return session.Event{}, errNoSum
	case c.sums:
		if number(11) != sum(e) {
			return session.Event{}, errSum
		}
	case len(e.Data) > 0 && !json.Valid(e.Data):
		return session.Event{}, errJSON
	}
	return e, nil
}

// integer reads a value of an integer's type.
func integer(t uint64, b []byte) int64 {
	if t == 9 {
		return 1
	}
	v := int64(0)
	if len(b) > 0 && b[0] >= 0x80 {
		v = -1
	}
	for _, x := range b {
		v = v<<8 | int64(x)
	}
	return v
}
