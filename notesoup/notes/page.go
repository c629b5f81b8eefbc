package notes

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Ask selects a page of a note.
type Ask struct {
	Path   string // an address
	From   int    // first line from 1; negative counts from the end; 0 = 1
	Lines  int    // 0 = as many as fit
	Cursor string // of the page before; then From does not count
	Bytes  int    // bound of the page
}

// Page is a part of a note, whole lines where one fits.
type Page struct {
	Address  Address
	Note     Note
	Text     string
	From, To int    // lines, 0 where the note is empty
	Next     string // cursor of the page behind, "" for none
}

// Page reads a page.
func (s *Store) Page(ctx context.Context, ask Ask) (Page, error) {
	a, n, err := s.Read(ctx, ask.Path)
	if err != nil {
		return Page{}, err
	}
	p := Page{Address: a, Note: n}
	line, skip, err := ask.start(a, n)
	if err != nil || n.Text == "" {
		return p, err
	}
	p.From, p.To = line, line
	lines := strings.SplitAfter(n.Text, "\n")
	last := n.Lines()
	if ask.Lines > 0 {
		last = min(last, line+ask.Lines-1)
	}
	var b strings.Builder
	for ; line <= last; line++ {
		text := lines[line-1]
		text = text[len(Head(text, skip)):]
		if fits := ask.Bytes - b.Len(); len(text) > fits {
			if b.Len() > 0 {
				break
			}
			cut := cutBytes(text, fits)
			b.WriteString(cut)
			p.To, p.Next = line, cursor(n.Rev, line, skip+utf8.RuneCountInString(cut))
			p.Text = b.String()
			return p, nil
		}
		b.WriteString(text)
		p.To, skip = line, 0
	}
	p.Text = b.String()
	if p.To < n.Lines() {
		p.Next = cursor(n.Rev, p.To+1, 0)
	}
	return p, nil
}

// start is the line from 1 and the code points of it to skip.
func (ask Ask) start(a Address, n Note) (line, skip int, err error) {
	total := n.Lines()
	if ask.Cursor != "" {
		rev, line, skip, ok := parseCursor(ask.Cursor)
		switch {
		case !ok || line < 1 || line > max(total, 1) || skip < 0:
			return 0, 0, Refuse(CodeCursor, "use the next= of the page before, or from", "%q is no cursor of %s", ask.Cursor, a)
		case rev != n.Rev:
			return 0, 0, Refuse(CodeCursor, fmt.Sprintf("go on with from=%d", line), "%s has changed since: rev=%s, was %s", a, n.Rev, rev)
		}
		return line, skip, nil
	}
	line = ask.From
	if line < 0 {
		line = max(1, total+1+line)
	}
	line = max(1, line)
	if line > max(total, 1) {
		return 0, 0, Refuse(CodeCursor, "use a smaller from", "%s has %d lines, from=%d is behind them", a, total, ask.From)
	}
	return line, 0, nil
}

func cursor(rev string, line, skip int) string { return fmt.Sprintf("%s.%d.%d", rev, line, skip) }

func parseCursor(s string) (rev string, line, skip int, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return "", 0, 0, false
	}
	line, err1 := strconv.Atoi(parts[1])
	skip, err2 := strconv.Atoi(parts[2])
	return parts[0], line, skip, err1 == nil && err2 == nil
}

// cutBytes is the longest start of text of at most n bytes and whole code points,
// but at least one code point.
func cutBytes(text string, n int) string {
	if n >= len(text) {
		return text
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(text)
	}
	return text[:n]
}

// String is the page as a result: the line, then the text.
func (p Page) String() string {
	l := OK("notes_read", p.Address.String()).Put("rev", p.Note.Rev).Put("cp", p.Note.CodePoints()).
		Put("lines", fmt.Sprintf("%d-%d", p.From, p.To)).Put("of", p.Note.Lines())
	if p.Next != "" {
		l.Put("next", p.Next)
	}
	return l.String() + "\n" + p.Text
}
