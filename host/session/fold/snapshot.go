package fold

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

// snapshotVersion is the format of Snapshot; another one is not used.
const snapshotVersion = 6

type snapshot struct {
	Version int    `json:"version"`
	State   *State `json:"state"`
}

// Snapshot encodes the state without the messages of its nodes, which stay in
// the log. It can always be rebuilt from the log.
func (s *State) Snapshot() []byte {
	b, err := json.Marshal(snapshot{snapshotVersion, s})
	if err != nil {
		panic(fmt.Sprintf("fold: snapshot: %v", err)) // only our own plain types
	}
	return b
}

// Load folds a log: from its newest snapshot where that is usable, else from the
// start. The cost is that of the surface and of the events since the snapshot.
func Load(ctx context.Context, log session.Reader) (*State, error) {
	if s := restore(ctx, log); s != nil {
		if err := s.follow(ctx, log); err == nil {
			return s, nil
		}
	}
	s := New()
	return s, s.follow(ctx, log)
}

// Full folds a log from its start.
func Full(ctx context.Context, log session.Reader) (*State, error) {
	s := New()
	return s, s.follow(ctx, log)
}

func (s *State) follow(ctx context.Context, log session.Reader) error {
	for e, err := range log.Read(ctx, session.Query{After: s.Head}) {
		if err != nil {
			return err
		}
		if err := s.Apply(e); err != nil {
			return err
		}
	}
	return nil
}

func restore(ctx context.Context, log session.Reader) *State {
	b, head, err := log.Snapshot(ctx)
	if err != nil || b == nil {
		return nil
	}
	snap := snapshot{State: New()}
	if json.Unmarshal(b, &snap) != nil || snap.Version != snapshotVersion || snap.State == nil || snap.State.Head != head {
		return nil
	}
	if snap.State.Totals.ModelCalls == nil || snap.State.Records == nil || snap.State.fill(ctx, log) != nil {
		return nil
	}
	return snap.State
}

// nodeKinds are the kinds that can be nodes.
var nodeKinds = []session.Kind{session.KindMessageSystem, session.KindMessageUser, session.KindMessageAssistant, session.KindToolResult}

// fill reads the messages of the nodes back from the log, run by run: those of the
// surface and those that an undo would give back.
func (s *State) fill(ctx context.Context, log session.Reader) error {
	lists := [][]Node{s.Surface.Nodes}
	if s.Compaction.Before != nil {
		lists = append(lists, s.Compaction.Before.Nodes)
	}
	at := map[int64][]*Node{}
	for _, nodes := range lists {
		for i := range nodes {
			at[nodes[i].Seq] = append(at[nodes[i].Seq], &nodes[i])
		}
	}
	seqs := slices.Sorted(maps.Keys(at))
	for start := 0; start < len(seqs); {
		end := start
		for end+1 < len(seqs) && seqs[end+1]-seqs[end] < near {
			end++
		}
		if err := fillRun(ctx, log, seqs[start], seqs[end], at); err != nil {
			return err
		}
		start = end + 1
	}
	if len(at) > 0 {
		return fmt.Errorf("snapshot names %d nodes that the log does not hold", len(at))
	}
	return nil
}

// fillRun fills the nodes of one stretch of the log and takes them out of at. A
// message that stands in both lists is one.
func fillRun(ctx context.Context, log session.Reader, first, last int64, at map[int64][]*Node) error {
	for e, err := range log.Read(ctx, session.Query{After: first - 1, Before: last + 1, Kinds: nodeKinds}) {
		if err != nil {
			return err
		}
		if at[e.Seq] == nil {
			continue
		}
		n, err := nodeOf(e)
		if err != nil {
			return err
		}
		for _, node := range at[e.Seq] {
			node.Message = n.Message
		}
		delete(at, e.Seq)
	}
	return nil
}

// near is how far apart nodes may lie that are read in one go.
const near = 256
