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

// Found is what a search came to.
type Found struct {
	Matches []Match // in home order
	Notes   int     // that were looked at
	Skipped []Skipped
}

// Match is a line that holds the query.
type Match struct {
	Address Address
	Rev     string
	Line    int    // from 1
	Excerpt string // the line, or what stands around its first match
}

// Matches looks for the query in all notes of the scope; Limit, Cursor and Bytes do not
// count.
func (s *Store) Matches(ctx context.Context, ask SearchAsk) (Found, error) {
	query := foldRunes(ask.Query)
	if n := len(query); n == 0 || n > MaxQuery {
		return Found{}, Refuse(CodeTooLarge, fmt.Sprintf("use 1 to %d", MaxQuery), "the query has %d code points", n)
	}
	all, skipped, err := s.gather(ctx, ask.In)
	if err != nil {
		return Found{}, err
	}
	result := Found{Notes: len(all), Skipped: skipped}
	for _, f := range all {
		n, err := f.home.Read(ctx, f.info.Path)
		if err != nil {
			result.Skipped = append(result.Skipped, Skipped{f.address.String(), string(CodeOf(err))})
			continue
		}
		result.Matches = append(result.Matches, matches(f.address, n, query)...)
	}
	return result, nil
}

// Search lists the lines that hold the query as a result text: a line, then one a
// match.
func (s *Store) Search(ctx context.Context, ask SearchAsk) (string, error) {
	all, err := s.Matches(ctx, ask)
	if err != nil {
		return "", err
	}
	limit := DefaultSearch
	if ask.Limit > 0 {
		limit = min(ask.Limit, MaxSearch)
	}
	from, err := offset(ask.Cursor, len(all.Matches), "search", ask.Query, ask.In)
	if err != nil {
		return "", err
	}
	var rows strings.Builder
	to := from
	for ; to < min(from+limit, len(all.Matches)); to++ {
		row := all.Matches[to].row()
		if to > from && rows.Len()+len(row) > bound(ask.Bytes) {
			break
		}
		rows.WriteString(row)
	}
	l := OK("notes_search", ask.In).Put("query", ask.Query).Put("matches", len(all.Matches)).Put("notes", all.Notes)
	if len(all.Skipped) > 0 {
		l.Put("skipped", len(all.Skipped))
	}
	if to < len(all.Matches) {
		l.Put("next", offsetCursor(to, "search", ask.Query, ask.In))
	}
	text := l.String() + "\n" + rows.String()
	for _, sk := range all.Skipped[:min(len(all.Skipped), 5)] {
		text += fmt.Sprintf("not searched: %s (%s)\n", quoted(sk.Path), sk.Why)
	}
	return text, nil
}

func (m Match) row() string {
	return fmt.Sprintf("%s:%d rev=%s %s\n", quoted(m.Address.String()), m.Line, m.Rev, m.Excerpt)
}

func matches(a Address, n Note, query []rune) (all []Match) {
	number := 0
	for line := range strings.Lines(n.Text) {
		number++
		if at := indexRunes(foldRunes(line), query); at >= 0 {
			all = append(all, Match{a, n.Rev, number, excerpt(line, at, len(query))})
		}
	}
	return all
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
