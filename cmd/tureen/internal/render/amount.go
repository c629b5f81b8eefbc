package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/session"
)

// Amount writes a count as people read it: 950, 8.9k, 46.1k, 128k, 1.2M.
func Amount(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 999_950:
		return scaled(n, 1000) + "k"
	}
	return scaled(n, 1_000_000) + "M"
}

// scaled is n/unit with one decimal below 100, without ".0".
func scaled(n, unit int) string {
	tenths := (n*10 + unit/2) / unit
	if tenths >= 1000 || tenths%10 == 0 {
		return strconv.Itoa((n + unit/2) / unit)
	}
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// Count is "1 file" or "3 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Meter is the context meter: "52.1k/128k (41%) line 102k".
func Meter(m session.Meter) string {
	if m.Window <= 0 {
		return Amount(m.Measured) + " tokens, window unknown"
	}
	text := fmt.Sprintf("%s/%s (%d%%)", Amount(m.Measured), Amount(m.Window), (m.Measured*100+m.Window/2)/m.Window)
	if m.ResetAt > 0 {
		text += " line " + Amount(m.ResetAt)
	}
	return text
}

// Compacted is the one line of an applied compaction:
// "reset #1 notesoup 46.1k→8.9k tokens, 12 ms, 0 model calls; pressure, 40 dropped, 2 kept".
func Compacted(c session.CompactionEnded) string {
	text := fmt.Sprintf("%s #%d %s %s→%s tokens, %d ms, %s", c.Kind, c.Ordinal, Head(c.Strategy, nameHead),
		Amount(c.TokensBefore), Amount(c.TokensAfter), c.Millis, Calls(c.ModelCalls, c.CostUSD))
	if c.Trigger != "" {
		text += "; " + Head(string(c.Trigger), nameHead)
	}
	if c.Dropped+c.Trimmed+c.Kept == 0 { // an older log does not say
		return text
	}
	if c.Trimmed > 0 {
		text += fmt.Sprintf(", %d trimmed", c.Trimmed)
	}
	return text + fmt.Sprintf(", %d dropped, %d kept", c.Dropped, c.Kept)
}

// Failed is the one line of a compaction that did not come about.
func Failed(c session.CompactionFailed) string {
	text := fmt.Sprintf("%s compaction by %s failed, the conversation stays as it is: %s", c.Trigger, c.Strategy, c.Error)
	if c.ModelCalls > 0 {
		text += fmt.Sprintf(" (%d ms, %s)", c.Millis, Calls(c.ModelCalls, c.CostUSD))
	}
	return text
}

// Postponed is the one line of a compaction that was put off.
func Postponed(c session.CompactionPostponed) string {
	return fmt.Sprintf("%s compaction by %s waits for one step of last words", c.Trigger, c.Strategy)
}

// Calls counts model calls and, where there are any, says what they cost; nil is not known.
func Calls(n int, cost *float64) string {
	text := Count(n, "model call")
	switch {
	case n == 0 || cost == nil:
		return text
	}
	return text + fmt.Sprintf(", $%.4f", *cost)
}

// Undone is the one line of an undo.
func Undone(u session.CompactionUndone) string {
	return fmt.Sprintf("compaction #%d is undone: the conversation is what it was before it; automatic compaction rests", u.Ordinal)
}

// Rested says whether automatic compaction rests.
func Rested(r session.CompactionRest) string {
	text := "automatic compaction acts again"
	if r.Rest {
		text = "automatic compaction rests"
	}
	if r.Why != "" {
		text += ": " + r.Why
	}
	return text
}

// Archived says whether the session was put away.
func Archived(a session.Archived) string {
	if a.Archived {
		return "the session is archived: it takes no step any more"
	}
	return "the session is no longer archived"
}

// Made says what a session was made from, "" where it began empty.
func Made(o *session.Origin) string {
	switch {
	case o == nil:
		return ""
	case o.How == session.HowFork:
		return fmt.Sprintf("forked from %s at event %d", o.Session, o.Seq)
	case o.How == session.HowSalvage:
		return "salvaged from " + o.Session
	}
	return fmt.Sprintf("%s of %s at event %d", o.How, o.Session, o.Seq)
}

// Head is the beginning of text on one line, at most n characters, without what
// Plain takes out.
func Head(text string, n int) string {
	runes := 0
	cut := len(text)
	for at := range text { // look no further than needed: the text may be large
		if runes == n+1 {
			cut = at
			break
		}
		runes++
	}
	line := strings.Join(strings.FieldsFunc(text[:cut], func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 }), " ")
	line = strings.Map(func(r rune) rune {
		if turns(r) {
			return -1
		}
		if r == utf8.RuneError || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, line)
	if cut < len(text) {
		return firstRunes(line, n-1) + "…"
	}
	return line
}

func firstRunes(s string, n int) string {
	for at := range s {
		if n == 0 {
			return s[:at]
		}
		n--
	}
	return s
}
