// Package history reads earlier windows back from a session's log: what windows
// there were, what was said in them, and the words themselves. A seq is the
// log's own; the result of a call is found at the call's seq. What is asked for
// and is not there is a *notes.Error.
package history

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// Limits of the answers.
const (
	MaxBytes       = 32 << 10
	DefaultWindows = 20
	DefaultItems   = 20
	MaxItems       = 100
	headChars      = 120
)

// Log is the part of a session.Access that is needed.
type Log interface {
	Events(ctx context.Context, q session.Query) iter.Seq2[session.Event, error]
}

// refuse is the answer to a question about what is not there.
func refuse(format string, args ...any) error {
	return notes.Refuse(notes.CodeNotFound, "history_windows and history_list show what there is", format, args...)
}

// call is a tool call with its result, nil where there is none.
type call struct {
	llm.ToolCall
	result *session.ToolResult
}

// item is one entry of a conversation.
type item struct {
	seq    int64
	kind   string // user | assistant | call
	source session.Source
	text   string
	call   *call
}

// items are what a message event says: its text and, for an answer, each call.
func items(ctx context.Context, log Log, e session.Event, results map[string]*session.ToolResult) ([]item, error) {
	if e.Kind == session.KindMessageUser {
		m, err := session.Decode[session.Message](e)
		if err != nil || m.Message == nil {
			return nil, err
		}
		return []item{{seq: e.Seq, kind: "user", source: m.Source, text: m.Message.Text()}}, nil
	}
	m, err := session.Decode[session.Assistant](e)
	if err != nil || m.Message == nil {
		return nil, err
	}
	var all []item
	if text := m.Message.Text(); text != "" {
		all = append(all, item{seq: e.Seq, kind: "assistant", text: text})
	}
	calls := m.Message.Calls()
	if err := pair(ctx, log, e.Seq, calls, results); err != nil {
		return nil, err
	}
	for _, c := range calls {
		all = append(all, item{seq: e.Seq, kind: "call", call: &call{c, results[c.ID]}})
		delete(results, c.ID)
	}
	return all, nil
}

// pair finds the results of calls that are not known yet: they stand behind the
// answer, before the next one.
func pair(ctx context.Context, log Log, seq int64, calls []llm.ToolCall, results map[string]*session.ToolResult) error {
	missing := 0
	for _, c := range calls {
		if results[c.ID] == nil {
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	// no more than can be of use: without a limit each answer would cost a whole page
	q := session.Query{After: seq, Kinds: []session.Kind{session.KindToolResult, session.KindMessageAssistant}, Limit: len(calls) + 1}
	for e, err := range log.Events(ctx, q) {
		if err != nil {
			return err
		}
		if e.Kind == session.KindMessageAssistant {
			return nil
		}
		if r, err := session.Decode[session.ToolResult](e); err == nil && r.Message != nil && results[r.Message.CallID] == nil {
			results[r.Message.CallID] = &r
			if missing--; missing == 0 {
				return nil
			}
		}
	}
	return nil
}

// whole is all text of an item, verbatim.
func (i item) whole() string {
	if i.call == nil {
		return i.text
	}
	text := i.call.Name + " " + i.call.Arguments + "\n"
	if i.call.result == nil {
		return text + "(no result is recorded)"
	}
	return text + i.call.result.Message.Text()
}

// ownTools is how the names of these tools begin.
const ownTools = "history_"

// matches tells whether the item holds a literal text, letters of either case alike: a
// call in its name and arguments, or in its result. Calls of these tools never match,
// so that a search does not find itself.
func (i item) matches(query string) bool {
	switch {
	case query == "":
		return true
	case i.call == nil:
		return holds(i.text, query)
	case strings.HasPrefix(i.call.Name, ownTools):
		return false
	}
	return holds(i.call.Name+" "+i.call.Arguments, query) || i.call.result != nil && holds(i.call.result.Message.Text(), query)
}

// line is the item's row in a listing.
func (i item) line(query string) string {
	text := i.whole()
	row := fmt.Sprintf("seq=%d %s cp=%d", i.seq, i.kind, len([]rune(text)))
	switch {
	case i.call != nil:
		row += " tool=" + i.call.Name
		if i.call.result == nil {
			row += " result=none"
		} else if i.call.result.Message.IsError {
			row += " result=error"
		}
	case i.source != "":
		row += " from=" + string(i.source)
	}
	return row + " " + strconv.Quote(head(text, query)) + "\n"
}

// head is the start of a text, or what stands around a match.
func head(text, query string) string {
	runes := []rune(text)
	from := 0
	if at := strings.Index(strings.ToLower(text), strings.ToLower(query)); query != "" && at >= 0 {
		from = max(0, len([]rune(text[:min(at, len(text))]))-headChars/2)
	}
	return string(runes[min(from, len(runes)):min(from+headChars, len(runes))])
}
