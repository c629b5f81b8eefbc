package notesoup

import (
	"context"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/notesoup/notes"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// lineBytes is kept free for the first line of a result.
const lineBytes = 512

type listArgs struct {
	Path   string       `json:"path"`
	Sort   string       `json:"sort"`
	Limit  toolcall.Int `json:"limit"`
	Cursor string       `json:"cursor"`
}

func (p *provider) list(ctx context.Context, call tool.Call, args listArgs, bytes int) (string, error) {
	store, err := p.of(call.Session)
	if err != nil {
		return "", err
	}
	return store.List(ctx, notes.ListAsk{Path: args.Path, Sort: args.Sort, Limit: int(args.Limit), Cursor: args.Cursor, Bytes: bytes})
}

type readArgs struct {
	Path   string       `json:"path"`
	From   toolcall.Int `json:"from"`
	Lines  toolcall.Int `json:"lines"`
	Cursor string       `json:"cursor"`
}

func (p *provider) read(ctx context.Context, call tool.Call, args readArgs, bytes int) (string, error) {
	store, err := p.of(call.Session)
	if err != nil {
		return "", err
	}
	page, err := store.Page(ctx, notes.Ask{Path: args.Path, From: int(args.From), Lines: int(args.Lines), Cursor: args.Cursor, Bytes: bytes - lineBytes})
	if err != nil {
		return "", err
	}
	return page.String(), nil
}

type searchArgs struct {
	Query  string       `json:"query"`
	In     string       `json:"in"`
	Limit  toolcall.Int `json:"limit"`
	Cursor string       `json:"cursor"`
}

func (p *provider) search(ctx context.Context, call tool.Call, args searchArgs, bytes int) (string, error) {
	store, err := p.of(call.Session)
	if err != nil {
		return "", err
	}
	return store.Search(ctx, notes.SearchAsk{Query: args.Query, In: args.In, Limit: int(args.Limit), Cursor: args.Cursor, Bytes: bytes})
}

type writeArgs struct {
	Path  string     `json:"path"`
	Text  string     `json:"text"`
	Mode  notes.Mode `json:"mode"`
	IfRev string     `json:"if_rev"`
}

func (p *provider) write(ctx context.Context, call tool.Call, args writeArgs) (string, error) {
	store, err := p.of(call.Session)
	if err != nil {
		return "", err
	}
	receipt, err := store.Write(ctx, notes.Write{Path: args.Path, Text: args.Text, Mode: args.Mode, IfRev: args.IfRev})
	if err != nil {
		return "", err
	}
	return receipt.String(), nil
}

type editArgs struct {
	Path   string       `json:"path"`
	Edits  []notes.Edit `json:"edits"`
	MoveTo string       `json:"move_to"`
	IfRev  string       `json:"if_rev"`
}

func (p *provider) edit(ctx context.Context, call tool.Call, args editArgs) (string, error) {
	store, err := p.of(call.Session)
	if err != nil {
		return "", err
	}
	if (len(args.Edits) > 0) == (args.MoveTo != "") {
		return "", toolcall.Errorf("INVALID_ARGUMENTS", "give either edits or move_to")
	}
	var receipt notes.Receipt
	if args.MoveTo != "" {
		receipt, err = store.Move(ctx, args.Path, args.MoveTo, args.IfRev)
	} else {
		receipt, err = store.Edit(ctx, args.Path, args.Edits, args.IfRev)
	}
	if err != nil {
		return "", err
	}
	return receipt.String(), nil
}
