package history

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// Bounds of what a page looks at, in log entries and bytes of them: a text that was
// said long ago costs several pages, not one that takes as long as the log is long.
const (
	MaxLooked      = 2000
	maxLookedBytes = 4 << 20
)

// ListAsk selects items. The zero value selects all, the newest first.
type ListAsk struct {
	Window int    // ordinal, 0 = all
	Kind   string // user | assistant | call
	Tool   string // calls of this tool
	Query  string // literal text in messages, arguments and results
	After  int64  // seq > After
	Before int64  // seq < Before
	Limit  int
	Bytes  int // bound of the answer; 0 = MaxBytes
}

// List lists what was said, one line an item, the newest first. The next= of a
// page is the before of the page behind it. A page that ends because it has looked
// at enough says so.
func List(ctx context.Context, log Log, ask ListAsk) (string, error) {
	if err := ask.within(ctx, log); err != nil {
		return "", err
	}
	limit := ask.Limit
	if limit <= 0 {
		limit = DefaultItems
	}
	limit = min(limit, MaxItems)
	bytes := MaxBytes
	if ask.Bytes > 0 {
		bytes = min(bytes, ask.Bytes)
	}
	results := map[string]*session.ToolResult{}
	var b strings.Builder
	shown, next := 0, ""
	looked, size, at := 0, 0, session.Event{}
	for e, err := range ask.events(ctx, log) {
		if err != nil {
			return "", err
		}
		if (e.Kind != session.KindToolResult || ask.Query != "") && (looked >= MaxLooked || size >= maxLookedBytes) {
			next = fmt.Sprintf(" looked=%d next=%d", looked, e.Seq+1)
			fmt.Fprintf(&b, "Only entries down to seq %d were looked at; go on with cursor=%d for older ones.\n", e.Seq+1, e.Seq+1)
			break
		}
		looked, size = looked+1, size+len(e.Data)
		if ask.Query != "" && (e.Step == 0 || e.Turn != at.Turn || e.Step != at.Step) {
			clear(results) // their answer is not among what came
		}
		at = e.Event
		if e.seen {
			continue
		}
		if e.Kind == session.KindToolResult {
			if r, err := session.Decode[session.ToolResult](e.Event); err == nil && r.Message != nil {
				results[r.Message.CallID] = &r
			}
			continue
		}
		found, err := items(ctx, log, e.Event, results)
		if err != nil {
			return "", err
		}
		rows, n := ask.rows(found)
		if n == 0 {
			continue
		}
		if shown > 0 && (shown+n > limit || b.Len()+len(rows) > bytes-128) {
			next = fmt.Sprintf(" next=%d", e.Seq+1)
			break
		}
		b.WriteString(rows)
		shown += n
	}
	return fmt.Sprintf("ok history_list items=%d%s\n", shown, next) + b.String(), nil
}

// said are the kinds of what is listed.
var said = []session.Kind{session.KindMessageUser, session.KindMessageAssistant, session.KindToolResult}

// events are those that items are made of, the newest first.
func (ask ListAsk) events(ctx context.Context, log Log) iter.Seq2[entry, error] {
	if ask.Query != "" {
		return ask.search(ctx, log)
	}
	return func(yield func(entry, error) bool) {
		for e, err := range log.Events(ctx, session.Query{After: ask.After, Before: ask.Before, Reverse: true, Kinds: said}) {
			if !yield(entry{Event: e}, err) {
				return
			}
		}
	}
}

// rows are the lines of the items that are asked for, and how many they are.
func (ask ListAsk) rows(found []item) (string, int) {
	rows, n := "", 0
	for _, i := range found {
		if ask.Kind != "" && i.kind != ask.Kind || ask.Tool != "" && (i.call == nil || i.call.Name != ask.Tool) || !i.matches(ask.Query) {
			continue
		}
		rows += i.line(ask.Query)
		n++
	}
	return rows, n
}

// within narrows the bounds to the window.
func (ask *ListAsk) within(ctx context.Context, log Log) error {
	if ask.Window == 0 {
		return nil
	}
	all, err := windows(ctx, log)
	if err != nil {
		return err
	}
	if ask.Window < 0 || ask.Window > len(all) {
		return refuse("there is no window %d; there are %d", ask.Window, len(all))
	}
	w := all[ask.Window-1]
	ask.After = max(ask.After, w.first-1)
	if w.last > 0 && (ask.Before == 0 || ask.Before > w.last+1) {
		ask.Before = w.last + 1
	}
	return nil
}
