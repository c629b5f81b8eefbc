package history

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
)

// span is a window as the log has it. last 0 means that it goes on.
type span struct {
	ordinal     int
	id          string
	first, last int64
	from, to    time.Time
	tokens      int // when it ended
	ended       string
	reset       int // ordinal of the compaction that it began with, 0 = the session's own beginning
}

// windows finds the stretches between resets, oldest first. Other compactions
// begin no window, and a reset that was undone has begun none.
func windows(ctx context.Context, log Log) ([]span, error) {
	q := session.Query{Kinds: []session.Kind{session.KindSessionCreated, session.KindCompactionStarted, session.KindCompactionUndone, session.KindRecord}}
	all := []span{{ordinal: 1, first: 1}}
	for e, err := range log.Events(ctx, q) {
		if err != nil {
			return nil, err
		}
		now := &all[len(all)-1]
		switch e.Kind {
		case session.KindSessionCreated:
			now.from = e.Time
		case session.KindCompactionStarted:
			c, err := session.Decode[session.CompactionStarted](e)
			if err != nil || c.Kind != string(compaction.KindReset) {
				continue
			}
			now.last, now.to, now.tokens, now.ended = e.Seq-1, e.Time, c.TokensBefore, string(c.Trigger)
			all = append(all, span{ordinal: now.ordinal + 1, first: e.Seq, from: e.Time, reset: c.Ordinal})
		case session.KindCompactionUndone:
			if c, err := session.Decode[session.CompactionUndone](e); err == nil && len(all) > 1 && c.Ordinal == now.reset {
				all = all[:len(all)-1]
				now = &all[len(all)-1]
				now.last, now.to, now.tokens, now.ended = 0, time.Time{}, 0, ""
			}
		case session.KindRecord:
			if r, err := session.Decode[session.Record](e); err == nil && r.Kind == "window" {
				var w struct {
					ID string `json:"id"`
				}
				if json.Unmarshal(r.Data, &w) == nil && now.id == "" {
					now.id = w.ID
				}
			}
		}
	}
	return all, nil
}

// Windows lists the windows of a session, the newest first, as a result text.
// cursor is the next= of the page before.
func Windows(ctx context.Context, log Log, limit int, cursor int64) (string, error) {
	all, err := windows(ctx, log)
	if err != nil {
		return "", err
	}
	if limit <= 0 {
		limit = DefaultWindows
	}
	limit = min(limit, MaxItems)
	var b strings.Builder
	shown := 0
	next := ""
	for i := len(all) - 1; i >= 0; i-- {
		w := all[i]
		if cursor > 0 && int64(w.ordinal) >= cursor {
			continue
		}
		if shown == limit {
			next = fmt.Sprintf(" next=%d", all[i+1].ordinal)
			break
		}
		shown++
		b.WriteString(w.line())
	}
	return fmt.Sprintf("ok history_windows windows=%d%s\n", len(all), next) + b.String(), nil
}

func (w span) line() string {
	row := fmt.Sprintf("window=%d", w.ordinal)
	if w.id != "" {
		row += " id=" + w.id
	}
	row += fmt.Sprintf(" seq=%d-", w.first)
	if w.last > 0 {
		row += fmt.Sprint(w.last)
	}
	row += " from=" + stamp(w.from)
	if w.last > 0 {
		return row + fmt.Sprintf(" to=%s tokens=%d ended=%s\n", stamp(w.to), w.tokens, w.ended)
	}
	return row + " ended=no\n"
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
