package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Subject is a strategy that the checks are run on, wherever it lives: in this
// process, behind a connection, or in a program of any language.
type Subject struct {
	// Start begins an instance. Several may run side by side.
	Start func(ctx context.Context) (Instance, error)
	// Kinds are those that it proposes; none = any.
	Kinds []compaction.Kind
	// Deterministic promises equal proposals for equal questions, also after a restart.
	Deterministic bool
	// Model answers the strategy's calls; nil = Answer.
	Model func(ctx context.Context, prefix []*llm.Message, g session.Generate) (session.Generated, error)
	// Patience bounds what must end promptly; 0 = 30 s.
	Patience time.Duration

	sweeping sync.Once
	swept    []trial
	failed   error // of the sweep
}

// Instance is one run of the strategy.
type Instance interface {
	// Open announces a session and returns the strategy that serves it.
	Open(ctx context.Context, s compaction.Session) (compaction.Strategy, error)
	// Close ends a session.
	Close(ctx context.Context, id string)
	// Stop ends the instance in good order, Kill without warning. One of them is
	// called, once.
	Stop(ctx context.Context) error
	Kill() error
}

// Check is one promise that every strategy keeps.
type Check struct {
	Name string
	Says string
	Run  func(ctx context.Context, s *Subject) error
}

// Checks are all of them. The error of one tells what was asked and what came.
func Checks() []Check {
	return []Check{
		{"opening", "what it shows is text with an id, and the marks lie before the end", opening},
		{"pairs", "no call is cut from its result, at any place of a conversation and whatever the trigger", refusals(compaction.RefusedPair)},
		{"edits", "edits name messages of the surface, in order and each once", refusals(compaction.RefusedEdit, compaction.RefusedSpan, compaction.RefusedTrim)},
		{"system", "node 0 stays the host's", refusals(compaction.RefusedSystem)},
		{"kind", "the kind is declared and says what the edits do", kinds},
		{"revision", "the revision is the one that was asked about", refusals(compaction.RefusedRevision)},
		{"texts", "texts are text of a user, and not empty", refusals(compaction.RefusedText)},
		{"smaller", "what is proposed is smaller, else nothing is", refusals(compaction.RefusedSize)},
		{"sendable", "what is left can be sent to a strict endpoint", sendable},
		{"calls", "its own model calls can be sent to a strict endpoint", calls},
		{"relief", "past the line, a long conversation becomes shorter", relief},
		{"nothing", "where there is nothing to gain it says so", nothing},
		{"settles", "asked again and again without anything new, it comes to an end", settles},
		{"cancel", "a question that is withdrawn ends promptly, and the next one is answered", withdrawn},
		{"pages", "an outline of many pages is read to its end, or given up when the question is", pages},
		{"failures", "where a log, an outline or a model fails, it fails or proposes something valid", failures},
		{"restart", "another process on the same log proposes the same", restart},
		{"repeats", "equal questions get equal proposals", repeats},
		{"sessions", "two sessions at once do not mix", sessions},
		{"unknown-window", "a window that is not known is no error, and a person may ask all the same", unknownWindow},
		{"unknown-trigger", "a trigger that it does not know does no harm", unknownTrigger},
		{"instructions", "what a person writes along does no harm", instructions},
	}
}

// Run runs every check as a subtest.
func Run[T interface {
	Run(name string, f func(T)) bool
	Context() context.Context
	Fatalf(format string, args ...any)
}](t T, s *Subject) {
	for _, c := range Checks() {
		t.Run(c.Name, func(t T) {
			if err := c.Run(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", c.Says, err)
			}
		})
	}
}

// InProcess starts instances of a strategy that lives in this process.
func InProcess(start func() compaction.Strategy) func(context.Context) (Instance, error) {
	return func(context.Context) (Instance, error) { return inProcess{start()}, nil }
}

type inProcess struct{ compaction.Strategy }

func (i inProcess) Open(context.Context, compaction.Session) (compaction.Strategy, error) {
	return i.Strategy, nil
}
func (inProcess) Close(context.Context, string) {}
func (inProcess) Stop(context.Context) error    { return nil }
func (inProcess) Kill() error                   { return nil }

// Answer is what a model says to a strategy, where nothing else is wanted: a short
// text that names the last message it was shown before the question.
func Answer(_ context.Context, prefix []*llm.Message, g session.Generate) (session.Generated, error) {
	shown := prefix[max(0, len(prefix)-1-len(g.Append))]
	text := fmt.Sprintf("## Current Work\n- %d messages were read\n- the last was from the %s", len(prefix)-len(g.Append), shown.Role)
	return session.Generated{Message: llm.Text(llm.RoleAssistant, text), Stop: llm.StopEnd}, nil
}

var count atomic.Int64

// log makes a session for the subject, with an id of its own.
func (s *Subject) log() *Session {
	log := named(nil, fmt.Sprintf("conform-%d", count.Add(1)), "conform", "You work in a repository and report what you find.")
	log.Budget = budget
	if log.Model = s.Model; log.Model == nil {
		log.Model = Answer
	}
	return log
}

// budget leaves 24000 tokens before the line.
var budget = compaction.Budget{Window: 32_000, MaxOutputTokens: 2000, ResetAt: 24_000, Reserve: 8000, Warning: 10_000, Reminder: 12_000, Source: "profile"}

// with runs f on an instance of its own.
func (s *Subject) with(ctx context.Context, f func(Instance) error) error {
	i, err := s.Start(ctx)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	err = f(i)
	return errors.Join(err, i.Stop(context.WithoutCancel(ctx)))
}

// seat opens a log on an instance and shows what the strategy asks for; again tells
// that it was shown before, so that only what is new is.
func seat(ctx context.Context, i Instance, log *Session) (compaction.Strategy, error) {
	strategy, err := i.Open(ctx, log.Opened())
	if err != nil {
		return nil, fmt.Errorf("announce the session: %w", err)
	}
	o, err := strategy.Open(ctx, log.Opened())
	if err != nil {
		return nil, fmt.Errorf("open the session: %w", err)
	}
	if len(o.Records) > 0 || log.render(o.Sections) != log.Messages()[0].Text() {
		log.Show(o)
	}
	return strategy, nil
}

// panicked is a strategy in this process that panics: every check fails by it.
type panicked struct{ cause any }

func (p *panicked) Error() string { return fmt.Sprintf("it panicked: %v", p.cause) }

// question is what came of one.
type question struct {
	p       compaction.Proposal
	err     error // of the strategy
	refused error // of the host
}

func (q question) applies() bool { return q.err == nil && q.refused == nil && !q.p.IsZero() }

// broken is the error of an answer that is neither an error nor valid.
func (q question) broken() error {
	var p *panicked
	if errors.As(q.err, &p) {
		return p
	}
	return q.refused
}

// ask asks and has the host judge; nothing is applied.
func ask(ctx context.Context, strategy compaction.Strategy, log *Session, in compaction.Input) (q question) {
	func() {
		defer func() {
			if cause := recover(); cause != nil {
				q.err = &panicked{cause}
			}
		}()
		q.p, q.err = strategy.Propose(ctx, in)
	}()
	if q.err == nil {
		log.mu.Lock()
		defer log.mu.Unlock()
		q.refused = compaction.Check(log.nodes(), q.p, in.Revision, nil)
	}
	return q
}

// pressed is a question for which the line is reached, whatever the surface holds:
// tools take up the rest.
func pressed(log *Session, trigger session.Trigger) compaction.Input {
	in := log.Input(trigger)
	if trigger == session.TriggerPressure && log.Budget.ResetAt > 0 {
		in.Measured = max(in.Measured, log.Budget.ResetAt+1)
	}
	in.Instructions = ""
	return in
}

func (s *Subject) patience() time.Duration {
	if s.Patience > 0 {
		return s.Patience
	}
	return 30 * time.Second
}
