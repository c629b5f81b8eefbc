package notes

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a search.
const (
	DefaultSearch  = 10
	MaxSearch      = 20
	MaxQuery       = 256 // code points
	excerptContext = 100 // code points on each side of a match
)

// SearchAsk looks for a literal text, letters of either case alike. In is a home,
// a folder or a note; "" = all homes of the session.
type SearchAsk struct {
	Query  string
	In     string
	Limit  int
	Cursor string
	Bytes  int // bound of the result; 0 = MaxResultBytes
}

// Search lists the lines that hold the query as a result text: a line, then one a
// match.
func (s *Store) Search(ctx context.Context, ask SearchAsk) (string, error) {
	query := foldRunes(ask.Query)
	if n := len(query); n == 0 || n > MaxQuery {
		return "", Refuse(CodeTooLarge, fmt.Sprintf("use 1 to %d", MaxQuery), "the query has %d code points", n)
	}
	all, skipped, err := s.gather(ctx, ask.In)
	if err != nil {
		return "", err
	}
	limit := DefaultSearch
	if ask.Limit > 0 {
		limit = min(ask.Limit, MaxSearch)
	}
	var rows []string
	for _, f := range all {
		n, err := f.home.Read(ctx, f.info.Path)
		if err != nil {
			skipped = append(skipped, Skipped{f.address.String(), string(CodeOf(err))})
			continue
		}
		rows = append(rows, matches(f.address, n, query)...)
	}
	from, err := offset(ask.Cursor, len(rows), "search", ask.Query, ask.In)
	if err != nil {
		return "", err
	}
	to := from
	for size := 0; to < min(from+limit, len(rows)); to++ {
		if size += len(rows[to]); to > from && size > bound(ask.Bytes) {
			break
		}
	}
	l := OK("notes_search", ask.In).Put("query", ask.Query).Put("matches", len(rows)).Put("notes", len(all))
	if len(skipped) > 0 {
		l.Put("skipped", len(skipped))
	}
	if to < len(rows) {
		l.Put("next", offsetCursor(to, "search", ask.Query, ask.In))
	}
	text := l.String() + "\n" + strings.Join(rows[from:to], "")
	for _, sk := range skipped[:min(len(skipped), 5)] {
		text += fmt.Sprintf("not searched: %s (%s)\n", quoted(sk.Path), sk.Why)
	}
	return text, nil
}

func matches(a Address, n Note, query []rune) (rows []string) {
	number := 0
	for line := range strings.Lines(n.Text) {
		number++
		if at := indexRunes(foldRunes(line), query); at >= 0 {
			rows = append(rows, fmt.Sprintf("%s:%d rev=%s %s\n", quoted(a.String()), number, n.Rev, excerpt(line, at, len(query))))
		}
	}
	return rows
}

// excerpt is the line around a match of n code points.
func excerpt(line string, at, n int) string {
	runes := []rune(strings.TrimRight(line, "\r\n"))
	from, to := max(0, at-excerptContext), min(len(runes), at+n+excerptContext)
	text := string(runes[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(runes) {
		text += "…"
	}
	return text
}

// foldRunes makes letters of either case alike, code point by code point.
func foldRunes(s string) []rune {
	runes := make([]rune, 0, utf8.RuneCountInString(s))
	for _, r := range s {
		runes = append(runes, unicode.ToLower(unicode.ToUpper(r)))
	}
	return runes
}

func indexRunes(s, sub []rune) int {
	at := strings.Index(string(s), string(sub))
	if at < 0 {
		return -1
	}
	return utf8.RuneCountInString(string(s)[:at])
}
