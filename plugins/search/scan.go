package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

var errBinary = toolcall.Errorf("BINARY_FILE", "binary file")

// scanner looks for matching lines in one file after the other.
type scanner struct {
	matcher *matcher
	report  *report
	r       *bufio.Reader
	buf     []byte   // a line that did not fit r's buffer
	before  [][]byte // copies of the last lines, as many as the context wants
	long    int      // lines that were searched only in part
}

func newScanner(m *matcher, r *report) *scanner {
	return &scanner{matcher: m, report: r, r: bufio.NewReaderSize(nil, 64<<10)}
}

// file searches one file; shown is its path in the report.
func (s *scanner) file(ctx context.Context, path, shown string) error {
	f, _, err := toolcall.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s.r.Reset(toolcall.Reader(ctx, f))
	if head, _ := s.r.Peek(toolcall.SniffBytes); toolcall.IsBinary(head) {
		return errBinary
	}
	s.before = s.before[:0]
	matches, after := 0, 0
	for number := 1; ; number++ {
		line, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		match := s.matcher.match(line)
		if match {
			if matches++; matches == 1 {
				s.report.files++
			}
			s.report.matches++
		}
		after = s.show(shown, number, line, match, after)
	}
}

// show writes what of a line and the lines before it belongs into the report. It
// takes and returns how many more lines belong to the last match shown.
func (s *scanner) show(path string, number int, line []byte, match bool, after int) int {
	r := s.report
	switch {
	case match && !r.full():
		for i, earlier := range s.before {
			r.line(path, number-len(s.before)+i, "-", earlier)
		}
		s.before = s.before[:0]
		r.shown++
		r.line(path, number, ":", line)
		return r.context
	case after > 0 && !match:
		r.line(path, number, "-", line)
		return after - 1
	case r.context > 0 && !r.full():
		if len(s.before) == r.context {
			s.before = append(s.before[:0], s.before[1:]...)
		}
		s.before = append(s.before, bytes.Clone(line[:min(len(line), maxLineBytes+utf8.UTFMax)]))
	}
	return 0
}

// next returns the next line without its end; it is valid until the next call.
// Of a line longer than maxLine the rest is dropped.
func (s *scanner) next() ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = s.longLine(line)
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, err
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}

// longLine reads on where a line does not fit the reader's buffer.
func (s *scanner) longLine(part []byte) ([]byte, error) {
	s.buf = s.buf[:0]
	size, err := 0, bufio.ErrBufferFull
	for {
		size += len(part)
		s.buf = append(s.buf, part[:min(len(part), maxLine-len(s.buf))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = s.r.ReadSlice('\n')
	}
	if size > maxLine && (err == nil || errors.Is(err, io.EOF)) {
		s.long++
	}
	return s.buf, err
}

func (s *scanner) notes() string {
	if s.long == 0 {
		return ""
	}
	return fmt.Sprintf("\n(%d lines are longer than %d bytes and were searched only that far.)", s.long, maxLine)
}

// clip cuts a line to the bytes that may be shown, between two characters.
func clip(line []byte) string {
	if len(line) <= maxLineBytes {
		return string(line)
	}
	end := maxLineBytes
	for end > maxLineBytes-utf8.UTFMax && !utf8.RuneStart(line[end]) {
		end--
	}
	return string(line[:end]) + "… (line truncated to 2000 bytes)"
}
