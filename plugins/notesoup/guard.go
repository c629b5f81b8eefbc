package notesoup

import (
	"context"
	"encoding/json"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// textClosing answers every other call in the step of last words.
const textClosing = "not run: this window is full and ends with this answer. Only notes_write and notes_edit on this session's own notes (addresses without @) are open now. " +
	"Save what the next window needs; there you can repeat this call."

// guard refuses all calls but those that save, in the step of last words. It is safe
// for concurrent use.
type guard struct {
	hook.Passive
	host     sdk.Host
	strategy *notesoup.Strategy
}

func (g *guard) Name() string         { return Name }
func (g *guard) Points() []hook.Point { return []hook.Point{hook.BeforeTool} }

// BeforeTool judges a call.
func (g *guard) BeforeTool(ctx context.Context, at hook.Where, call hook.ToolCall) (hook.ToolDecision, error) {
	closing, err := g.strategy.Closing(ctx, at.Session, g.host.Session(at.Session))
	if err != nil || !closing || saves(call) {
		return hook.ToolDecision{Rest: !closing}, err
	}
	return hook.ToolDecision{Deny: textClosing}, nil
}

// saves tells whether a call writes a note of the session and nothing else.
func saves(call hook.ToolCall) bool {
	if call.Name != "notes_write" && call.Name != "notes_edit" {
		return false
	}
	var args struct {
		Path   string `json:"path"`
		MoveTo string `json:"move_to"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return false
	}
	a, err := notes.Parse(args.Path)
	return err == nil && a.Home == notes.Session // move_to stays in the home
}
