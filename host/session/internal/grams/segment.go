package grams

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"
)

// Blocks is how many blocks a segment has.
const Blocks = 128

// Block is a signature and the seq of the last event that went into it.
type Block struct {
	Signature
	Last int64
}

// Segment is what a file says of its blocks, which follow each other in the log.
type Segment struct {
	Born  int64 // sum of the log's first event
	After int64 // the segment begins behind this seq
	Lasts [Blocks]int64
	Sum   int64 // of its last event
}

// Last is the seq of the segment's last event.
func (s *Segment) Last() int64 { return s.Lasts[Blocks-1] }

// What a segment looks like: a head, then the rows, each with its checksum.
const (
	magic   = "TuGrams\x01"
	headLen = len(magic) + 8*(3+Blocks) + 4
	rowLen  = Blocks/8 + 4
	// SegmentLen is how many bytes a segment takes.
	SegmentLen = headLen + Rows*rowLen
)

// ErrBad is the error of a segment that is not what was written.
var ErrBad = errors.New("a segment of the index is not what was written")

var table = crc32.MakeTable(crc32.Castagnoli)

// Encode is the segment of some blocks, as many as one has.
func (s Segment) Encode(blocks []Block) []byte {
	out := make([]byte, 0, SegmentLen)
	out = append(out, magic...)
	for _, n := range []int64{s.Born, s.After, s.Sum} {
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	}
	for _, b := range blocks {
		out = binary.LittleEndian.AppendUint64(out, uint64(b.Last))
	}
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, table))
	for row := range Rows {
		var bitmap [Blocks / 64]uint64
		for i := range blocks {
			bitmap[i/64] |= blocks[i].Signature[row/64] >> (row % 64) & 1 << (i % 64)
		}
		at := len(out)
		for _, w := range bitmap {
			out = binary.LittleEndian.AppendUint64(out, w)
		}
		out = binary.LittleEndian.AppendUint32(out, sumRow(row, out[at:]))
	}
	return out
}

// sumRow is the checksum of a row. It depends on where the row stands.
func sumRow(row int, bitmap []byte) uint32 {
	return crc32.Update(uint32(row)+1, table, bitmap)
}

// ReadHead reads what the i-th segment of a file says of itself.
func ReadHead(file io.ReaderAt, i int) (s Segment, err error) {
	head := make([]byte, headLen)
	if _, err := file.ReadAt(head, int64(i)*int64(SegmentLen)); err != nil {
		return s, err
	}
	end := headLen - 4
	if string(head[:len(magic)]) != magic || binary.LittleEndian.Uint32(head[end:]) != crc32.Checksum(head[:end], table) {
		return s, ErrBad
	}
	at := len(magic)
	next := func() int64 {
		at += 8
		return int64(binary.LittleEndian.Uint64(head[at-8:]))
	}
	s.Born, s.After, s.Sum = next(), next(), next()
	for i := range s.Lasts {
		s.Lasts[i] = next()
	}
	return s, nil
}

// Find returns the numbers of the blocks of the i-th segment that may hold the text
// that has these rows, in order.
func Find(file io.ReaderAt, i int, rows []uint16) ([]int, error) {
	left := [Blocks / 64]uint64{}
	for w := range left {
		left[w] = ^uint64(0)
	}
	var buf [rowLen]byte
	for _, row := range rows {
		if _, err := file.ReadAt(buf[:], int64(i)*int64(SegmentLen)+int64(headLen)+int64(row)*int64(rowLen)); err != nil {
			return nil, err
		}
		if binary.LittleEndian.Uint32(buf[Blocks/8:]) != sumRow(int(row), buf[:Blocks/8]) {
			return nil, ErrBad
		}
		any := uint64(0)
		for w := range left {
			left[w] &= binary.LittleEndian.Uint64(buf[8*w:])
			any |= left[w]
		}
		if any == 0 {
			return nil, nil
		}
	}
	var found []int
	for w, set := range left {
		for ; set != 0; set &= set - 1 {
			found = append(found, 64*w+bits.TrailingZeros64(set))
		}
	}
	return found, nil
}
