package fold

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/host/session"
)

// snapshotVersion is the format of Snapshot; another one is not used.
const snapshotVersion = 2

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
	if json.Unmarshal(b, &snap) != nil || snap.Version != snapshotVersion || snap.State.Head != head {
		return nil
	}
	if snap.State.fill(ctx, log) != nil {
		return nil
	}
	return snap.State
}

// nodeKinds are the kinds that can be nodes.
var nodeKinds = []session.Kind{session.KindMessageSystem, session.KindMessageUser, session.KindMessageAssistant, session.KindToolResult}

// fill reads the messages of the nodes back from the log, run by run.
func (s *State) fill(ctx context.Context, log session.Reader) error {
	at := map[int64]int{}
	for i, n := range s.Surface.Nodes {
		at[n.Seq] = i
	}
	for start := 0; start < len(s.Surface.Nodes); {
		end := start
		for end+1 < len(s.Surface.Nodes) && near(s.Surface.Nodes[end].Seq, s.Surface.Nodes[end+1].Seq) {
			end++
		}
		q := session.Query{After: s.Surface.Nodes[start].Seq - 1, Before: s.Surface.Nodes[end].Seq + 1, Kinds: nodeKinds}
		for e, err := range log.Read(ctx, q) {
			if err != nil {
				return err
			}
			i, ok := at[e.Seq]
			if !ok {
				continue
			}
			n, err := nodeOf(e)
			if err != nil {
				return err
			}
			s.Surface.Nodes[i].Message = n.Message
			delete(at, e.Seq)
		}
		start = end + 1
	}
	if len(at) > 0 {
		return fmt.Errorf("snapshot names %d nodes that the log does not hold", len(at))
	}
	return nil
}

// near joins nodes into one read where the gap is small and runs forward.
func near(a, b int64) bool { return b > a && b-a < 256 }
