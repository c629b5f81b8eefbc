package notesoup

import (
	"cmp"
	"context"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/notesoup/history"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

type windowsArgs struct {
	Limit  toolcall.Int `json:"limit"`
	Cursor toolcall.Int `json:"cursor"`
}

func (p *provider) windows(ctx context.Context, call tool.Call, args windowsArgs, _ int) (string, error) {
	return history.Windows(ctx, p.host.Session(call.Session), int(args.Limit), int64(args.Cursor))
}

type itemsArgs struct {
	Window toolcall.Int `json:"window"`
	Kind   string       `json:"kind"`
	Tool   string       `json:"tool"`
	Query  string       `json:"query"`
	Before toolcall.Int `json:"before"`
	After  toolcall.Int `json:"after"`
	Limit  toolcall.Int `json:"limit"`
	Cursor toolcall.Int `json:"cursor"`
}

func (p *provider) items(ctx context.Context, call tool.Call, args itemsArgs, bytes int) (string, error) {
	before := args.Before
	if args.Cursor > 0 && (before == 0 || args.Cursor < before) {
		before = args.Cursor
	}
	return history.List(ctx, p.host.Session(call.Session), history.ListAsk{Window: int(args.Window), Kind: args.Kind, Tool: args.Tool,
		Query: args.Query, Before: int64(before), After: int64(args.After), Limit: int(args.Limit), Bytes: bytes})
}

type wordsArgs struct {
	Seq    toolcall.Int `json:"seq"`
	From   toolcall.Int `json:"from"`
	To     toolcall.Int `json:"to"`
	Offset toolcall.Int `json:"offset_chars"`
}

func (p *provider) words(ctx context.Context, call tool.Call, args wordsArgs, bytes int) (string, error) {
	if (args.Seq > 0) == (args.From > 0) || args.To > 0 && args.From == 0 {
		return "", toolcall.Errorf("INVALID_ARGUMENTS", "give either seq, or from and to")
	}
	return history.Read(ctx, p.host.Session(call.Session), history.ReadAsk{
		From: int64(cmp.Or(args.Seq, args.From)), To: int64(args.To), Offset: int(args.Offset), Bytes: bytes})
}
