package files

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// request says which part of a file is wanted: lines from first on, at most so
// many lines, and at most so many bytes once they are numbered. Where a character
// takes fewer bytes than its token would it counts as that many, bytesPerToken.
type request struct{ first, lines, bytes int }

// page is what was found. Where counted is false, the file was not read to its
// end and total is what was counted so far.
type page struct {
	text        []byte // numbered lines, each with its line feed
	first, last int    // last is 0 where no line was shown
	total       int
	counted     bool
	weight      int  // of text, as the limit counts it
	capped      bool // the room ran out before the lines
}

// source reads a file once, front to back, and hashes it on the way.
type source struct {
	r    *bufio.Reader
	sum  hash.Hash
	line []byte
}

func newSource(r io.Reader) *source {
	sum := sha256.New()
	return &source{r: bufio.NewReaderSize(io.TeeReader(r, sum), 64<<10), sum: sum}
}

// hash is the content's hash once the file was read to its end.
func (s *source) hash() (sum [sha256.Size]byte) {
	s.sum.Sum(sum[:0])
	return sum
}

// head is how the file begins, without reading on.
func (s *source) head() []byte {
	head, _ := s.r.Peek(toolcall.SniffBytes)
	return head
}

// page reads up to the end of the wanted part, and on from there to count.
func (s *source) page(want request) (*page, error) {
	p := &page{first: want.first}
	for p.last < want.first+want.lines-1 {
		keep := 0
		if p.total >= want.first-1 {
			keep = maxLineChars*utf8.UTFMax + utf8.UTFMax // more than may be shown
		}
		err := s.next(keep)
		if errors.Is(err, io.EOF) {
			p.counted = true
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		p.total++
		if keep == 0 {
			continue
		}
		if err := p.add(p.total, s.line, want.bytes); err != nil {
			return nil, err
		}
		if p.capped {
			break
		}
	}
	return p, s.count(p)
}

// add appends a line to the page, or marks the page as capped.
func (p *page) add(number int, line []byte, limit int) error {
	if number == 1 {
		line = bytes.TrimPrefix(line, []byte(bom))
	}
	line, cut := clip(line)
	if !utf8.Valid(line) {
		return toolcall.Errorf("NOT_UTF8", "not UTF-8 text (line %d); convert a copy, for example with iconv in a shell", number)
	}
	before, weight := len(p.text), p.weight
	p.text = strconv.AppendInt(p.text, int64(number), 10)
	p.text = append(append(p.text, ": "...), line...)
	if cut {
		p.text = append(p.text, "… (line truncated to 2000 chars)"...)
	}
	p.text = append(p.text, '\n')
	if p.weight += weigh(p.text[before:]); p.weight > limit && before > 0 {
		p.text, p.weight, p.capped = p.text[:before], weight, true
		return nil
	}
	p.last = number
	return nil
}

// weigh counts the bytes of a text, and bytesPerToken for a character of fewer that
// is mostly a token of its own.
func weigh(text []byte) int {
	n := len(text)
	for i := 0; i < len(text); {
		size := 1
		if text[i] >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(text[i:])
			n += max(0, bytesPerToken-size)
		}
		i += size
	}
	return n
}

// next reads one line into s.line, without its end, and drops what goes beyond
// keep bytes. io.EOF means that there was none.
func (s *source) next(keep int) error {
	s.line = s.line[:0]
	some := false
	for {
		part, err := s.r.ReadSlice('\n')
		some = some || len(part) > 0
		s.line = append(s.line, part[:min(len(part), max(0, keep-len(s.line)))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && some, err == nil:
			s.line = bytes.TrimSuffix(bytes.TrimSuffix(s.line, []byte("\n")), []byte("\r"))
			return nil
		default:
			return err
		}
	}
}

// count adds the lines behind the page to its total, as far as maxCount bytes.
func (s *source) count(p *page) error {
	block := make([]byte, 64<<10)
	open := false // the last byte seen was not a line feed
	for read := 0; read < maxCount; {
		n, err := s.r.Read(block)
		if n > 0 {
			p.total += bytes.Count(block[:n], []byte("\n"))
			open = block[n-1] != '\n'
			read += n
		}
		if errors.Is(err, io.EOF) {
			if open {
				p.total++
			}
			p.counted = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clip cuts a line to the characters that may be shown.
func clip(line []byte) ([]byte, bool) {
	if len(line) <= maxLineChars {
		return line, false
	}
	end := 0
	for range maxLineChars {
		if end >= len(line) {
			return line, false
		}
		_, size := utf8.DecodeRune(line[end:])
		end += size
	}
	return line[:end], end < len(line)
}
