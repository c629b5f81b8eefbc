package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/spill"
	"github.com/tureen-host/tureen/host/tool"
)

// defaultToolTimeout binds tools that declare none (T6).
const defaultToolTimeout = 2 * time.Minute

// batch is the calls of one answer on their way through the pipeline (T2).
type batch struct {
	a       *Agent
	at      hook.Where
	room    int
	calls   []llm.ToolCall
	args    []json.RawMessage
	results []tool.Result
	took    []time.Duration
	bounds  []session.Confinement
	share   *spill.Batch // what the results may show together
	stop    *hook.Stop   // a hook ends the turn after the batch
}

// runTools runs the calls of an answer: in waves, each started durably before it
// is dispatched, results in model order (L17, L19). It tells whether a tool
// concluded the turn. Every call gets a result, also on a cancel.
func (a *Agent) runTools(ctx context.Context, at hook.Where, calls []llm.ToolCall) (conclude bool, err error) {
	b := &batch{a: a, at: at, calls: calls, room: a.room(),
		args: make([]json.RawMessage, len(calls)), results: make([]tool.Result, len(calls)), took: make([]time.Duration, len(calls)),
		bounds: make([]session.Confinement, len(calls)), share: spill.NewBatch(a.budget().ResetAt)}
	for _, wave := range tool.Waves(len(calls), func(i int) bool { return a.Tools.Parallel(calls[i].Name) }) {
		if ctx.Err() != nil {
			break // what is left gets its results when the turn closes (L8)
		}
		if err := b.wave(ctx, wave); err != nil {
			return false, err
		}
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if conclude, err = b.effects(ctx); err == nil && b.stop != nil {
		err = &blockedError{b.stop.Code, b.stop.Message}
	}
	return conclude, err
}

// wave checks, starts and runs the calls of one wave and stages their results.
func (b *batch) wave(ctx context.Context, wave []int) error {
	var run []int
	for _, i := range wave {
		refused, err := b.refuse(ctx, i)
		if err != nil {
			return err
		}
		if !refused {
			run = append(run, i)
		}
	}
	var started []session.Event
	for _, i := range run {
		payload := session.ToolStarted{CallID: b.calls[i].ID, Name: b.calls[i].Name, Plugin: b.provider(i).Name()}
		if !b.bounds[i].Free() {
			payload.Confinement = &b.bounds[i]
		}
		started = append(started, session.New(session.KindToolStarted, payload).At(b.at.Turn, b.at.Step))
	}
	if len(run) > 0 {
		if err := b.a.rec.commit(ctx, started...); err != nil {
			return err
		}
		tool.RunWave(ctx, run, b.run)
	}
	return b.finish(ctx, wave)
}

// refuse gives a call that must not run its error result: an unknown tool, bad
// arguments, a hook's denial (T3, M15).
func (b *batch) refuse(ctx context.Context, i int) (bool, error) {
	c := b.calls[i]
	if _, _, known := b.a.Tools.Lookup(c.Name); !known {
		b.results[i] = tool.Failed("UNKNOWN_TOOL", fmt.Sprintf("unknown tool %q", c.Name))
		return true, nil
	}
	object, ok := c.ArgumentsObject()
	if !ok {
		b.results[i] = tool.BadArguments()
		return true, nil
	}
	if bad, refused := b.a.Tools.Validate(c.Name, object); refused {
		b.results[i] = bad
		return true, nil
	}
	b.args[i] = object
	if !b.a.Hooks.Declared(hook.BeforeTool) {
		return false, nil
	}
	if err := b.a.rec.flush(ctx); err != nil {
		return false, err
	}
	d, err := b.a.Hooks.BeforeTool(ctx, b.at, hook.ToolCall{CallID: c.ID, Name: c.Name, Arguments: object}, func(plugin string, q session.Question) (session.Answer, error) {
		q.Plugin = plugin
		return b.a.question(ctx, q, 0)
	})
	b.bounds[i] = d.Confinement
	if err != nil || d.Deny == "" {
		return false, err
	}
	b.results[i] = tool.Failed("DENIED", d.Deny)
	return true, nil
}

func (b *batch) provider(i int) tool.Provider {
	_, p, _ := b.a.Tools.Lookup(b.calls[i].Name)
	return p
}

// run dispatches one call under its deadline.
func (b *batch) run(ctx context.Context, i int) {
	spec, provider, _ := b.a.Tools.Lookup(b.calls[i].Name)
	timeout := orDefault(spec.Timeout, defaultToolTimeout)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	call := tool.Call{Session: b.at.Session, Turn: b.at.Turn, Step: b.at.Step, ID: b.calls[i].ID, Name: b.calls[i].Name, Arguments: b.args[i], Room: b.room,
		Confinement: b.bounds[i]}
	began := b.a.Now()
	result, err := provider.Call(limited, call, func(text string) {
		if b.a.Observer != nil {
			b.a.Observer.Progress(b.calls[i].Name, b.a.rec.secrets.text(tool.Clean(text)))
		}
	})
	b.took[i] = b.a.Now().Sub(began)
	late := limited.Err() != nil && ctx.Err() == nil
	switch {
	case err == nil && !(late && result.Code == "ABORTED"): // by the deadline, which a plugin cannot tell from a cancel
		b.results[i] = result
	case ctx.Err() != nil:
		b.results[i] = tool.Failed("ABORTED", "tool call aborted")
	case late:
		b.results[i] = tool.Failed("TOOL_TIMEOUT", fmt.Sprintf("tool call timed out after %dms", timeout.Milliseconds()))
	default:
		b.results[i] = tool.Failed("TOOL_FAILED", fmt.Sprintf("the plugin behind %s failed during the call, so its effect is unknown: %v", spec.Name, err))
	}
}

// finish lets hooks see the results of a wave and stages them. A hook that fails
// ends it: what it saw is stored all the same.
func (b *batch) finish(ctx context.Context, wave []int) error {
	contexts := make([][]hook.Message, len(wave))
	var failed error
	for n, i := range wave {
		contexts[n], failed = b.after(ctx, i)
		b.results[i].Text = cmp.Or(b.results[i].Text, "(no output)")
		if failed != nil {
			wave = wave[:n+1]
			break
		}
	}
	limits := b.fit(wave)
	for n, i := range wave {
		if err := b.stage(i, limits[n]); err != nil {
			return errors.Join(err, failed)
		}
		for _, m := range contexts[n] {
			if err := b.a.hear(session.NextStep, m); err != nil {
				return errors.Join(err, failed)
			}
		}
	}
	return failed
}

// after makes a result storable and lets hooks see it; it returns the messages that
// stand behind the results.
func (b *batch) after(ctx context.Context, i int) ([]hook.Message, error) {
	r, c := &b.results[i], b.calls[i]
	var contexts []hook.Message
	for _, text := range r.Contexts {
		contexts = append(contexts, hook.Message{Plugin: b.from(i), Text: text})
	}
	r.Text = b.a.rec.secrets.text(tool.Clean(r.Text)) // before a cut could leave half a key
	if !b.a.Hooks.Declared(hook.AfterTool) {
		return contexts, nil
	}
	shown := hook.ToolOutcome{CallID: c.ID, Name: c.Name, Arguments: c.Arguments, Text: hookText(r.Text), IsError: r.IsError}
	outcome, more, stop, err := b.a.Hooks.AfterTool(ctx, b.at, shown)
	if err != nil {
		return nil, err
	}
	if outcome.Text != shown.Text {
		r.Text = b.a.rec.secrets.text(tool.Clean(outcome.Text))
	}
	b.stop = cmp.Or(b.stop, stop)
	return append(contexts, more...), nil
}

func (b *batch) from(i int) string {
	if p := b.provider(i); p != nil {
		return p.Name()
	}
	return ""
}

// effects acts on what the results ask of the host. A request for a compaction
// counts only from the strategy's own plugin, and only where the whole batch
// went well (N12).
func (b *batch) effects(ctx context.Context) (conclude bool, err error) {
	failed := ""
	arm := -1
	for i, r := range b.results {
		if r.IsError {
			failed = b.calls[i].Name
		}
		for _, e := range r.Effects {
			switch {
			case e == tool.EffectChangeDirectory && !r.IsError:
				if err := b.a.changeDirectory(ctx, r.Note, ""); err != nil {
					return false, err
				}
			case e == tool.EffectReport && !r.IsError && json.Valid([]byte(r.Note)):
				report := session.Report{CallID: b.calls[i].ID, Data: json.RawMessage(r.Note)}
				if err := b.a.rec.stage(session.New(session.KindReport, report).At(b.at.Turn, b.at.Step)); err != nil {
					return false, err
				}
			case e == tool.EffectConcludeTurn:
				conclude = true
			case e == tool.EffectRequestCompaction && b.a.Strategy.Strategy != nil && b.from(i) == b.a.Strategy.Plugin:
				arm = i
			}
		}
	}
	if arm < 0 {
		return conclude, nil
	}
	id := b.calls[arm].ID
	if failed == "" {
		return conclude, b.a.rec.stage(session.New(session.KindCompactionArmed, session.CompactionArmed{CallID: id, Note: b.results[arm].Note}).At(b.at.Turn, b.at.Step))
	}
	why := fmt.Sprintf("a call of %s in the same batch failed", failed)
	if err := b.a.rec.stage(session.New(session.KindCompactionDropped, session.CompactionDropped{CallID: id, Why: why}).At(b.at.Turn, b.at.Step)); err != nil {
		return conclude, err
	}
	return conclude, b.a.queue(session.InboxItem{Queue: session.NextStep, Source: session.SourceHost,
		Text: "The reset you asked for was dropped: " + why + ". Put that right first, then ask again."})
}

// room is what is left before the line, -1 where that is unknown.
func (a *Agent) room() int {
	room, line := -1, a.budget().ResetAt
	a.rec.view(func(s *fold.State) {
		if line > 0 {
			measured, _ := s.Measure()
			room = max(0, s.Rough(line-measured))
		}
	})
	return room
}
