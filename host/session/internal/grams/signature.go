package grams

import (
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Rows is how many bits a signature has.
const Rows = 8192

// Signature is what is kept of the texts of a block.
type Signature [Rows / 64]uint64

// A block is full when it has one of these: so many bits, or bytes of text.
const (
	fullBits  = Rows * 2 / 5
	fullBytes = 4 << 10
)

// Full tells whether a block of so many bytes had better be the last of its kind:
// one with too many bits says too little.
func (s *Signature) Full(bytes int) bool {
	if bytes >= fullBytes {
		return true
	}
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n >= fullBits
}

// Add puts a text into the block.
func (s *Signature) Add(text string) {
	each(text, func(row uint16) { s[row/64] |= 1 << (row % 64) })
}

// Has tells whether a block may hold the text that has these rows.
func (s *Signature) Has(rows []uint16) bool {
	for _, row := range rows {
		if s[row/64]&(1<<(row%64)) == 0 {
			return false
		}
	}
	return true
}

// maxRows bounds what is looked for of a long text.
const maxRows = 64

// RowsOf are the rows that a block which holds the text has, each once; none where the
// text is too short to say anything.
func RowsOf(text string) []uint16 {
	var rows []uint16
	each(text, func(row uint16) {
		if len(rows) < maxRows && !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	})
	return rows
}

// each calls set with two rows for each three bytes of a text, letters of either case
// alike.
func each(text string, set func(row uint16)) {
	var last uint32 // three bytes
	n := 0
	put := func(b byte) {
		last = (last<<8 | uint32(b)) & 0xffffff
		if n++; n >= 3 {
			h := last * 0x9e3779b1
			h ^= h >> 15
			h *= 0x85ebca6b
			set(uint16(h >> 19))
			set(uint16(h>>6) % Rows)
		}
	}
	var buf [utf8.UTFMax]byte
	for _, r := range text {
		if r = Caseless(r); r < utf8.RuneSelf {
			put(byte(r))
			continue
		}
		for _, b := range buf[:utf8.EncodeRune(buf[:], r)] {
			put(b)
		}
	}
}

// Caseless is the one rune that stands for r in all cases: runes that are equal in
// lower case, or under simple folding, have it in common.
func Caseless(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	r = unicode.ToLower(r)
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return least
}
