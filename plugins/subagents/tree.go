package subagents

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
)

// member is a session that is open in this process.
type member struct {
	id     string
	parent string // "" = a person's own
	depth  int
	schema json.RawMessage // of the result that it owes, nil = none

	mu       sync.Mutex
	reported int // the turn of its last result
	nudged   int // the turn of the last nudge
	nudges   int // in that turn
}

// spawnData is what a subagent's session carries for this plugin.
type spawnData struct {
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
}

// tree counts the subagents below one root.
type tree struct {
	root     string
	spawning sync.Mutex // one start at a time; guards started and known
	started  int        // ever
	known    bool       // started is read from the log
}

// recordStarted is the kind of the record that holds how many were ever started.
const recordStarted = "started"

// Open takes note of a session. What it was told before about results is kept.
func (p *Provider) Open(_ context.Context, s compaction.Session) error {
	var data spawnData
	if len(s.Spawn) > 0 {
		_ = json.Unmarshal(s.Spawn, &data) // may be another plugin's
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions[s.ID] == nil {
		p.sessions[s.ID] = &member{id: s.ID, parent: s.Parent, depth: s.Depth, schema: data.OutputSchema}
	}
	return nil
}

// Close forgets a session.
func (p *Provider) Close(_ context.Context, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, id)
	delete(p.trees, id)
}

func (p *Provider) member(id string) *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[id]
}

// tree finds the tree that a session belongs to.
func (p *Provider) tree(id string) (*member, *tree, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.sessions[id]
	if m == nil {
		return nil, nil, fmt.Errorf("session %q is not open in this plugin", id)
	}
	root := p.root(m)
	t := p.trees[root]
	if t == nil {
		t = &tree{root: root}
		p.trees[root] = t
	}
	return m, t, nil
}

// root walks up as far as sessions are open here. The caller holds mu.
func (p *Provider) root(m *member) string {
	for range len(p.sessions) {
		up := p.sessions[m.parent]
		if up == nil {
			break
		}
		m = up
	}
	return m.id
}

// active counts the subagents of a tree that are at work: a session is open as
// long as it works.
func (p *Provider) active(t *tree) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for id, m := range p.sessions {
		if id != t.root && p.root(m) == t.root {
			n++
		}
	}
	return n
}

// count reads how many were ever started, once; the caller holds spawning. Those of
// the session that a branch was made from are none of its tree.
func (t *tree) count(ctx context.Context, access session.Access) error {
	if t.known {
		return nil
	}
	started, err := recorded(ctx, access)
	if err != nil {
		return fmt.Errorf("read how many subagents there were: %w", err)
	}
	t.started, t.known = started, true
	return nil
}

// recorded reads that number from the record.
func recorded(ctx context.Context, access session.Access) (started int, err error) {
	branched, err := session.Branched(ctx, access)
	if err != nil {
		return 0, err
	}
	for e, err := range access.Records(ctx, recordStarted) {
		if err != nil {
			return 0, err
		}
		r, err := session.Decode[session.Record](e)
		if err != nil {
			return 0, err
		}
		if e.Seq <= branched || r.Key != "" {
			continue
		}
		if err := json.Unmarshal(r.Data, &started); err != nil {
			return 0, err
		}
	}
	return started, nil
}

// book stores that there is one more; the caller holds spawning.
func (t *tree) book(ctx context.Context, access session.Access) error {
	data, err := json.Marshal(t.started + 1)
	if err != nil {
		return err
	}
	if err := access.PutRecord(ctx, recordStarted, "", data); err != nil {
		return fmt.Errorf("store how many subagents there are: %w", err)
	}
	t.started++
	return nil
}
