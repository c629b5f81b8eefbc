package planning

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/tureen-host/tureen/host/session"
)

// The kinds of the plugin's records. The newest of each counts.
const (
	recordTodo = "todo" // entry[[]Todo]
	recordGoal = "goal" // entry[Goal]
	recordPlan = "plan" // planMode
)

// desk is what is known of one session. mu guards all but access and parent.
type desk struct {
	access session.Access
	parent string // of a subagent, "" for a person's own session

	mu     sync.Mutex
	loaded bool
	todos  entry[[]Todo]
	goal   entry[Goal]
	plan   planMode
	drive  drive
	// Of this run: the goal that was set, or worked at, and the turn in which a plan was
	// handed over that nobody decided about.
	begun   string
	planned int
}

// entry is a value with its history over one compaction: what it was when the
// window that it was last changed in began. So the text that restates it after a
// compaction is a function of the records alone, the same before and after a
// restart (K4).
type entry[T any] struct {
	Now         T   `json:"now"`
	Before      T   `json:"before,omitzero"`
	Compactions int `json:"compactions"` // of the session when Now was set
}

// with returns the entry with a new value, set after so many compactions.
func (e entry[T]) with(value T, compactions int) entry[T] {
	if e.Compactions != compactions {
		e.Before, e.Compactions = e.Now, compactions
	}
	e.Now = value
	return e
}

// standing is the value as it was when the newest of so many compactions was over.
func (e entry[T]) standing(compactions int) T {
	if e.Compactions == compactions {
		return e.Before
	}
	return e.Now
}

// load reads the records, once. A goal that was worked at since the host took the
// session was armed by a process of the plugin that is gone.
func (d *desk) load(ctx context.Context) error {
	if d.loaded {
		return nil
	}
	goal := int64(0)
	for e, err := range d.access.Records(ctx, "") {
		if err != nil {
			return err
		}
		r, err := session.Decode[session.Record](e)
		if err != nil {
			return err
		}
		to := map[string]any{recordTodo: &d.todos, recordGoal: &d.goal, recordPlan: &d.plan}[r.Kind]
		if to == nil || r.Key != "" {
			continue
		}
		if err := json.Unmarshal(r.Data, to); err != nil {
			return fmt.Errorf("event %d, record %q: %w", e.Seq, r.Kind, err)
		}
		if r.Kind == recordGoal {
			goal = e.Seq
		}
	}
	if goal > 0 {
		opened, err := d.opened(ctx)
		if err != nil {
			return err
		}
		if goal > opened {
			d.begun, d.drive.dropped = d.goal.Now.ID, "the plugin was started anew"
		}
	}
	d.loaded = true
	return nil
}

// put stores a record.
func (d *desk) put(ctx context.Context, kind string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := d.access.PutRecord(ctx, kind, "", data); err != nil {
		return fmt.Errorf("store the record %q, so nothing was changed: %w", kind, err)
	}
	return nil
}

// setTodos stores a new list.
func (d *desk) setTodos(ctx context.Context, todos []Todo) error {
	m, err := d.access.Meter(ctx)
	if err != nil {
		return err
	}
	next := d.todos.with(todos, m.Compactions)
	if err := d.put(ctx, recordTodo, next); err != nil {
		return err
	}
	d.todos = next
	return nil
}

// setGoal stores the goal as its next revision.
func (d *desk) setGoal(ctx context.Context, g Goal) error {
	m, err := d.access.Meter(ctx)
	if err != nil {
		return err
	}
	g.Revision++
	next := d.goal.with(g, m.Compactions)
	if err := d.put(ctx, recordGoal, next); err != nil {
		return err
	}
	d.goal = next
	return nil
}
