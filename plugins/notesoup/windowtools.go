package notesoup

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// maxNote is the code points of the note that goes with empty_brain.
const maxNote = 500

// remaining tells the room to the line: what is physically left without the
// reserve, never below 0 (N11). It is the number that the reminder states.
func (p *provider) remaining(ctx context.Context, call tool.Call, _ struct{}) (string, error) {
	m, err := p.host.Session(call.Session).Meter(ctx)
	if err != nil {
		return "", fmt.Errorf("read the meter: %w", err)
	}
	l := notes.OK("get_context_remaining", "")
	if m.Window <= 0 {
		return l.Put("room", "null").Put("physical", "null").Put("reserve", "null").Put("measured", m.Measured).Put("window", "null").Put("source", m.Source).String() +
			"\nThe window of this model is not known, so nothing is closed by itself. Save your notes as you go.", nil
	}
	physical := max(0, m.Window-m.Measured)
	return l.Put("room", max(0, physical-m.Reserve)).Put("physical", physical).Put("reserve", m.Reserve).Put("measured", m.Measured).Put("window", m.Window).Put("source", m.Source).String() +
		"\nroom is the tokens that may still be used before this window is closed; the reserve is not yours to use.", nil
}

type emptyArgs struct {
	Note string `json:"note"`
}

// empty arms a reset after the whole batch (N12).
func (p *provider) empty(_ context.Context, call tool.Call) tool.Result {
	var args emptyArgs
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Failed("INVALID_ARGUMENTS", "invalid arguments: "+err.Error())
	}
	n := utf8.RuneCountInString(args.Note)
	if n > maxNote {
		return tool.Failed(string(notes.CodeTooLarge), notes.Refuse(notes.CodeTooLarge, "put it into a note with notes_write",
			"the note has %d code points, %d are allowed", n, maxNote).Error())
	}
	if !p.strategy.Serves(call.Session) {
		return tool.Failed("NOT_ACTIVE", "this session's profile leaves the window to another strategy, so it cannot be emptied; go on with the task")
	}
	l := notes.OK("empty_brain", "").Put("armed", "yes")
	if n > 0 {
		l.Put("note_cp", n)
	}
	return tool.Result{
		Text: l.String() + "\nThe fresh window opens when all calls of this answer are done. It does not if one of them ends in an error, " +
			"or if the turn is cancelled or fails: then call empty_brain again.",
		Effects: []tool.Effect{tool.EffectRequestCompaction},
		Note:    args.Note,
	}
}
