package spill

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

//go:embed read_spill.json
var schema []byte

// Provider is the host's own tool.Provider: it offers read_spill for one session
// (C16). It is safe for concurrent use and reads one event of the log a call.
type Provider struct {
	log session.Reader

	mu         sync.Mutex // guards what follows
	turn, step int
	used       int // tokens of this step's pages
}

// New makes the Provider of the session whose log that is.
func New(log session.Reader) *Provider { return &Provider{log: log} }

// Name stands where a plugin's name does.
func (p *Provider) Name() string { return "host" }

// Tools lists read_spill, the same in every session.
func (p *Provider) Tools(context.Context, string) ([]tool.Spec, error) {
	return []tool.Spec{{
		Name: ToolName,
		Description: "Show what was left out of a tool result that was too long to be shown whole: by line numbers, or only what holds a search text. " +
			"The shortened result says the id. The last line in brackets says what was shown and how to go on.",
		Schema:   schema,
		Parallel: true,
		NoSpill:  true,
	}}, nil
}

type arguments struct {
	ID     string  `json:"id"`
	Offset float64 `json:"offset"` // JSON Schema calls 3.0 an integer too
	Column float64 `json:"column"`
	Limit  float64 `json:"limit"`
	Search string  `json:"search"`
}

// Call shows a page. The pages of one step share MaxBatch and the room that is
// left, so that many calls at once do not fill the context.
func (p *Provider) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	var args arguments
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Failed("INVALID_ARGUMENTS", "invalid arguments: "+err.Error()), nil
	}
	spilled, err := p.fetch(ctx, seqOf(args.ID))
	switch {
	case ctx.Err() != nil:
		return tool.Failed("ABORTED", "tool call aborted"), nil
	case err != nil:
		return tool.Failed("IO_ERROR", fmt.Sprintf("cannot read %q from the session's log: %v", args.ID, err)), nil
	case spilled == nil:
		return tool.Failed("NOT_FOUND", fmt.Sprintf("this session keeps no result under the id %q; the id stands at the end of the shortened result, like %q",
			args.ID, ID(57))), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := Page(spilled.Text, Ask{Offset: count(args.Offset), Column: count(args.Column), Limit: count(args.Limit), Search: tool.Clean(args.Search),
		Tokens: p.room(call)})
	if err != nil {
		return tool.Failed("OUT_OF_RANGE", err.Error()), nil
	}
	if spilled.LeftOut > 0 && !strings.HasSuffix(text, " to continue.)") {
		text += " (" + partial(spilled.LeftOut) + ")"
	}
	p.used += tokens(text)
	return tool.Result{Text: text}, nil
}

// fetch reads one spilled result, nil where the event is none.
func (p *Provider) fetch(ctx context.Context, seq int64) (*session.Spilled, error) {
	if seq == 0 {
		return nil, nil
	}
	q := session.Query{After: seq - 1, Before: seq + 1, Kinds: []session.Kind{session.KindToolSpilled}, Limit: 1}
	for e, err := range p.log.Read(ctx, q) {
		if err != nil {
			return nil, err
		}
		spilled, err := session.Decode[session.Spilled](e)
		return &spilled, err
	}
	return nil, nil
}

// room is the most that the next page may have: half of what the step has left, so
// that no page takes all.
func (p *Provider) room(call tool.Call) int {
	if p.turn != call.Turn || p.step != call.Step {
		p.turn, p.step, p.used = call.Turn, call.Step, 0
	}
	left := MaxBatch
	if call.Room >= 0 {
		left = min(left, call.Room)
	}
	return max(minTokens, (left-p.used)/2)
}

func count(f float64) int { return int(max(0, min(1<<53, f))) }
