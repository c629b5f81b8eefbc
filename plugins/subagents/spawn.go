package subagents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Bounds of what a model hands over.
const (
	maxTask   = 128 << 10
	maxSchema = 32 << 10
)

type spawnArgs struct {
	Task         string          `json:"task"`
	Label        string          `json:"label"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

// spawn starts a subagent that knows its task alone.
func (p *Provider) spawn(ctx context.Context, call tool.Call, args spawnArgs) (string, error) {
	return p.start(ctx, call, args, false)
}

// fork starts one that begins with what this session has come to (S2).
func (p *Provider) fork(ctx context.Context, call tool.Call, args spawnArgs) (string, error) {
	return p.start(ctx, call, args, true)
}

func (p *Provider) start(ctx context.Context, call tool.Call, args spawnArgs, fork bool) (string, error) {
	m, t, err := p.tree(call.Session)
	if err != nil {
		return "", err
	}
	if len(args.Task) > maxTask {
		return "", toolcall.Errorf("TASK_TOO_LONG", "the task has %d bytes, more than %d; write it to a file and name the file", len(args.Task), maxTask)
	}
	if err := checkSchema(args.OutputSchema); err != nil {
		return "", toolcall.Errorf("BAD_SCHEMA", "no subagent was started: output_schema %v", err)
	}
	if m.depth >= p.config.MaxDepth {
		return "", toolcall.Errorf("DEPTH_LIMIT", "no subagent was started: this session is at level %d below the person's own, and %d is the most. Do the work yourself", m.depth, p.config.MaxDepth)
	}
	t.spawning.Lock()
	defer t.spawning.Unlock()
	if err := p.room(ctx, t); err != nil {
		return "", err
	}
	var data json.RawMessage
	if args.OutputSchema != nil {
		if data, err = json.Marshal(spawnData{args.OutputSchema}); err != nil {
			return "", err
		}
	}
	if err := t.book(ctx, p.host.Session(t.root)); err != nil {
		return "", err
	}
	child, err := p.host.Session(call.Session).Spawn(ctx, session.Spawn{Task: args.Task, Label: args.Label, Data: data, Fork: fork})
	if err != nil {
		t.started-- // the record follows with the next one
		return "", toolcall.Errorf(codeOf(err), "no subagent was started: %v", err)
	}
	return fmt.Sprintf("Started subagent %s. You will be told when it has ended. Do not look after it: go on with other work, or end your turn.", child.ID), nil
}

// codeOf is the host's code of a refusal, where it gave one.
func codeOf(err error) string {
	var own *sdk.Error
	if errors.As(err, &own) && own.Code != sdk.CodeFailed {
		return own.Code
	}
	return "SPAWN_FAILED"
}

// room tells whether a tree may have one more; the caller holds spawning.
func (p *Provider) room(ctx context.Context, t *tree) error {
	if err := t.count(ctx, p.host.Session(t.root)); err != nil {
		return err
	}
	if t.started >= p.config.MaxTotal {
		return toolcall.Errorf("TOTAL_LIMIT", "no subagent was started: there were %d already, which is all that there may be. Do the work yourself, or send a message to one that has ended", t.started)
	}
	return p.free(t)
}

// free tells whether one more may be at work.
func (p *Provider) free(t *tree) error {
	if n := p.active(t); n >= p.config.MaxActive {
		return toolcall.Errorf("ACTIVE_LIMIT", "%s at work, and %d is the most at once. Go on with other work, or end your turn: try again once you are told that one has ended", subagents(n), p.config.MaxActive)
	}
	return nil
}

// checkSchema tells what is wrong with the schema of a result, nil for none.
func checkSchema(schema json.RawMessage) error {
	if schema == nil {
		return nil
	}
	if len(schema) > maxSchema {
		return fmt.Errorf("has %d bytes, more than %d; ask for less, or for a file", len(schema), maxSchema)
	}
	var root struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(schema, &root); err != nil || root.Type != "object" {
		return fmt.Errorf(`must have "type": "object" at its root; put a list or a value into a property of it`)
	}
	c := jsonschema.NewCompiler()
	c.LoadURL = nil // a schema is whole in itself; nothing is fetched
	const url = "subagents:///output_schema"
	if err := c.AddResource(url, bytes.NewReader(schema)); err != nil {
		return fmt.Errorf("is no JSON Schema: %w", err)
	}
	if _, err := c.Compile(url); err != nil {
		return fmt.Errorf("is no JSON Schema: %w", err)
	}
	return nil
}
