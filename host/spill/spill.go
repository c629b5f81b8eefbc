// Package spill shortens tool results that are too long to be shown, and shows what
// was left out on demand (C14 to C17). The whole text is an event of its own in the
// session's log, so wherever the session goes it goes too; the model sees a preview
// and reads the rest with the tool read_spill.
package spill

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// ToolName is the tool that reads spilled results.
const ToolName = "read_spill"

const idPrefix = "spill-"

// ID is the id under which the model reads the result in the event with that seq.
func ID(seq int64) string { return idPrefix + strconv.FormatInt(seq, 10) }

// seqOf reads an ID, or the bare seq; 0 for anything else.
func seqOf(id string) int64 {
	seq, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(id), idPrefix), 10, 64)
	if err != nil || seq < 1 {
		return 0
	}
	return seq
}

// Event is the log's entry that keeps a result whole, but for what the tool itself had
// left out.
func Event(callID, name, text string, leftOut int64) session.Event {
	return session.New(session.KindToolSpilled, session.Spilled{CallID: callID, Name: name,
		Bytes: len(text), Lines: lines(text), Tokens: tokens(text), Text: text, LeftOut: leftOut})
}

// noticeTokens is what mark and notice of a preview take at the most.
const noticeTokens = 150

// Preview shows start and end of a text that has more than limit tokens, in at most
// limit tokens, which is at least Brief. The notice comes last, so that it outlives
// a compaction that trims the preview: it says where the rest is to be read, and, where
// the tool left bytes out, that the rest is not all there was. text is
// valid UTF-8, and so is the preview; it is cut at the end of a line where one is near.
func Preview(text, id string, limit int, leftOut int64) string {
	room := max(Brief, limit) - noticeTokens
	from := lineEnd(text, headEnd(text, (room+1)/2))
	to := max(from, lineStart(text, tailStart(text, room/2)))
	first, last, total := 1+strings.Count(text[:from], "\n"), 1+strings.Count(text[:max(from, to-1)], "\n"), lines(text)
	next := fmt.Sprintf("offset=%d", first)
	if column := 1 + utf8.RuneCountInString(text[strings.LastIndexByte(text[:from], '\n')+1:from]); column > 1 {
		next += fmt.Sprintf(" column=%d", column)
	}
	var b strings.Builder
	b.WriteString(text[:from])
	newLine(&b)
	fmt.Fprintf(&b, "[... %s ...]\n", tool.OmittedLines(first, last, total))
	b.WriteString(text[to:])
	newLine(&b)
	kept, scope := "Nothing is lost:", "the whole result"
	if leftOut > 0 {
		kept, scope = partial(leftOut)+" For what is stored,", "it"
	}
	b.WriteString(tool.Omitted(to-from, len(text), "bytes", fmt.Sprintf("%s %s with id %q and %s goes on where this breaks off, "+
		"and with search it finds a text in %s.", kept, ToolName, id, next, scope)))
	return b.String()
}

// partial says that the stored text is not all there was.
func partial(leftOut int64) string {
	return fmt.Sprintf("The stored text is partial: the tool left out %d more bytes, which are nowhere kept.", leftOut)
}

func newLine(b *strings.Builder) {
	if text := b.String(); text != "" && text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
}
