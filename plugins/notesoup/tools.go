package notesoup

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
	"github.com/tureen-host/tureen/plugins/sdk"
)

//go:embed tools.json
var toolSchemas []byte

// schemas are the argument schemas by tool.
var schemas = func() map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(toolSchemas, &all); err != nil {
		panic(fmt.Sprintf("notesoup: tools.json: %v", err))
	}
	return all
}()

// provider is the plugin's tools and hears of its sessions. It is safe for
// concurrent use.
type provider struct {
	*shelf
	host     sdk.Host
	strategy *notesoup.Strategy
	granted  []sdk.Capability
	pages    pages
}

// Open takes note of a session. A capability that is missing is found out here, before
// the first request (N22).
func (p *provider) Open(ctx context.Context, sess compaction.Session) error {
	if !slices.Contains(p.granted, sdk.CapSessionRead) {
		return fmt.Errorf("plugin %q is denied %s, without which it finds neither its window nor the history; take %q out of deny in the [[plugins]] row with use = %q",
			Name, sdk.CapSessionRead, sdk.CapSessionRead, Name)
	}
	return p.shelf.Open(ctx, sess)
}

// Name is the plugin's name.
func (p *provider) Name() string { return Name }

// Close forgets a session.
func (p *provider) Close(ctx context.Context, id string) {
	p.shelf.Close(ctx, id)
	p.strategy.Close(id)
	p.pages.drop(id)
}

// Tools lists the tools; they are the same in every session. Readers run side by
// side, writers one after the other.
func (p *provider) Tools(context.Context, string) ([]tool.Spec, error) {
	specs := []tool.Spec{
		reader("notes_list", "List notes: address, rev, size, time of the last write, first line."),
		reader("notes_read", "Read a note, page by page where it is long."),
		reader("notes_search", "Find a text in the notes; shows the lines that hold it."),
		writer("notes_write", "Write a note. create makes a new one, append adds lines (and makes a missing one), replace puts the text in place of a note whose rev you name. A note is on the disk when the result says ok."),
		writer("notes_edit", "Change a note by replacing parts of it, all or none, or move it."),
		reader("history_windows", "List the windows of this session, the newest first: seqs, times, how each ended."),
		reader("history_list", "List what was said and done in this session, the newest first, one line an entry."),
		reader("history_read", "Show entries of this session's log word for word."),
		reader("get_context_remaining", "Tell how many tokens may still be used in this window before it is closed."),
		writer("empty_brain", "Go to a fresh window once this batch of calls is done: the conversation leaves your sight, your notes and the history stay. Save what the next window needs first."),
	}
	return specs, nil
}

func reader(name, description string) tool.Spec {
	return tool.Spec{Name: name, Description: description, Schema: schemas[name], Parallel: true, NoSpill: true}
}

func writer(name, description string) tool.Spec {
	return tool.Spec{Name: name, Description: description, Schema: schemas[name]}
}

// Call runs one tool.
func (p *provider) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	switch call.Name {
	case "notes_list":
		return toolcall.Run(ctx, call, paged(p, p.list)), nil
	case "notes_read":
		return toolcall.Run(ctx, call, paged(p, p.read)), nil
	case "notes_search":
		return toolcall.Run(ctx, call, paged(p, p.search)), nil
	case "notes_write":
		return toolcall.Run(ctx, call, refusals(p.write)), nil
	case "notes_edit":
		return toolcall.Run(ctx, call, refusals(p.edit)), nil
	case "history_windows":
		return toolcall.Run(ctx, call, paged(p, p.windows)), nil
	case "history_list":
		return toolcall.Run(ctx, call, paged(p, p.items)), nil
	case "history_read":
		return toolcall.Run(ctx, call, paged(p, p.words)), nil
	case "get_context_remaining":
		return toolcall.Run(ctx, call, p.remaining), nil
	case "empty_brain":
		return p.empty(ctx, call), nil
	}
	return tool.Result{}, fmt.Errorf("plugin %q has no tool %q", Name, call.Name)
}

// body is what a tool does with its arguments.
type body[A any] func(context.Context, tool.Call, A) (string, error)

// refusals makes a refusal of the notes an error that the model sees.
func refusals[A any](f body[A]) body[A] {
	return func(ctx context.Context, call tool.Call, args A) (string, error) {
		text, err := f(ctx, call, args)
		var refused *notes.Error
		if errors.As(err, &refused) {
			return "", toolcall.Errorf(string(refused.Code), "%s", refused.Error())
		}
		return text, err
	}
}

// paged runs a reader within the page budget of its step; f is told its bytes.
func paged[A any](p *provider, f func(ctx context.Context, call tool.Call, args A, bytes int) (string, error)) body[A] {
	return refusals(func(ctx context.Context, call tool.Call, args A) (text string, err error) {
		bytes, done, err := p.pages.take(ctx, call)
		if err != nil {
			return "", err
		}
		defer func() {
			if err != nil {
				done(len(err.Error()))
				return
			}
			done(len(text))
		}()
		text, err = f(ctx, call, args, bytes)
		return text, err
	})
}
