package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
	"github.com/tureen-host/tureen/host/tool"
)

// script is a model that answers from a list and keeps the requests it saw.
type script struct {
	mu       sync.Mutex
	answers  []func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool)
	requests []llm.Request
}

func (s *script) Info(context.Context) (llm.Info, error) { return llm.Info{Name: "m"}, nil }

func (s *script) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		s.mu.Lock()
		r.Messages = slices.Clone(r.Messages)
		s.requests = append(s.requests, r)
		var answer func(context.Context, llm.Request, func(llm.Chunk, error) bool)
		if len(s.answers) > 0 {
			answer, s.answers = s.answers[0], s.answers[1:]
		}
		s.mu.Unlock()
		if err := llm.Validate(r.Messages); err != nil { // as a Model promises
			yield(llm.Chunk{}, err)
			return
		}
		if answer == nil {
			yield(llm.Chunk{}, &llm.Error{Code: llm.CodeInvalidRequest, Message: "the script has no further answer"})
			return
		}
		answer(ctx, r, yield)
	}
}

type answerFunc = func(context.Context, llm.Request, func(llm.Chunk, error) bool)

// says answers with text.
func says(text string) answerFunc {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if yield(llm.Chunk{Kind: llm.BlockText, Delta: text}, nil) {
			yield(llm.Chunk{Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, text), Stop: llm.StopEnd}}, nil)
		}
	}
}

// calls answers with tool calls, each "id name arguments".
func calls(list ...string) answerFunc {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		m := &llm.Message{Role: llm.RoleAssistant}
		for _, c := range list {
			f := strings.SplitN(c, " ", 3)
			m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: f[0], Name: f[1], Arguments: f[2]}})
		}
		yield(llm.Chunk{Answer: &llm.Answer{Message: m, Stop: llm.StopToolCalls}}, nil)
	}
}

func fails(err *llm.Error) answerFunc {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) { yield(llm.Chunk{}, err) }
}

// toolbox is a provider of functions.
type toolbox struct {
	name  string
	specs []tool.Spec
	fn    map[string]func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func newToolbox(name string) *toolbox {
	return &toolbox{name: name, fn: map[string]func(context.Context, tool.Call) (tool.Result, error){}}
}

func (b *toolbox) add(s tool.Spec, fn func(ctx context.Context, c tool.Call) (tool.Result, error)) *toolbox {
	if s.Schema == nil {
		s.Schema = json.RawMessage(`{"type":"object"}`)
	}
	b.specs = append(b.specs, s)
	b.fn[s.Name] = fn
	return b
}

func (b *toolbox) Name() string                                       { return b.name }
func (b *toolbox) Tools(context.Context, string) ([]tool.Spec, error) { return b.specs, nil }
func (b *toolbox) Call(ctx context.Context, c tool.Call, _ func(string)) (tool.Result, error) {
	return b.fn[c.Name](ctx, c)
}

// echo is a tool that answers with its name and arguments.
func echo(_ context.Context, c tool.Call) (tool.Result, error) {
	return tool.Result{Text: c.Name + string(c.Arguments)}, nil
}

// hooks is a plugin's say, as functions.
type hooks struct {
	points    []hook.Point
	onFailure string
	before    func(pending []hook.Pending) (hook.StepDecision, error)
	tool      func(c hook.ToolCall) (hook.ToolDecision, error)
	after     func(o hook.ToolOutcome) (hook.OutcomeDecision, error)
	stopping  func() (hook.StopDecision, error)
	failed    func(f session.Failure) (hook.FailedDecision, error)
	ended     func(e session.TurnEnded) error
	idle      func() (hook.IdleDecision, error)
}

func (h *hooks) Name() string         { return "hooks" }
func (h *hooks) Points() []hook.Point { return h.points }
func (h *hooks) OnFailure() string    { return h.onFailure }
func (h *hooks) BeforeStep(_ context.Context, _ hook.Where, pending []hook.Pending) (hook.StepDecision, error) {
	return h.before(pending)
}
func (h *hooks) BeforeTool(_ context.Context, _ hook.Where, c hook.ToolCall) (hook.ToolDecision, error) {
	return h.tool(c)
}
func (h *hooks) AfterTool(_ context.Context, _ hook.Where, o hook.ToolOutcome) (hook.OutcomeDecision, error) {
	return h.after(o)
}
func (h *hooks) TurnStopping(context.Context, hook.Where) (hook.StopDecision, error) {
	return h.stopping()
}
func (h *hooks) RequestFailed(_ context.Context, _ hook.Where, f session.Failure, _ int) (hook.FailedDecision, error) {
	return h.failed(f)
}
func (h *hooks) TurnEnded(_ context.Context, _ hook.Where, e session.TurnEnded) error {
	return h.ended(e)
}
func (h *hooks) Idle(context.Context, hook.Where) (hook.IdleDecision, error) { return h.idle() }

// strategy proposes by function.
type strategy struct {
	opening compaction.Opening
	propose func(ctx context.Context, in compaction.Input) (compaction.Proposal, error)
}

func (s *strategy) Open(context.Context, compaction.Session) (compaction.Opening, error) {
	return s.opening, nil
}
func (s *strategy) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	return s.propose(ctx, in)
}

// wipe proposes to replace everything but node 0 by one text.
func wipe(text string) func(context.Context, compaction.Input) (compaction.Proposal, error) {
	return func(_ context.Context, in compaction.Input) (compaction.Proposal, error) {
		var all []session.Node
		for n, err := range in.Outline {
			if err != nil {
				return compaction.Proposal{}, err
			}
			all = append(all, n)
		}
		if len(all) < 2 {
			return compaction.Proposal{}, nil
		}
		return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindReset, Continue: true,
			Edits: []compaction.Edit{{Replace: &compaction.Replace{Span: compaction.Span{From: all[1].Seq, To: all[len(all)-1].Seq},
				Messages: []*llm.Message{llm.Text(llm.RoleUser, text)}}}}}, nil
	}
}

// setup is a session in memory with everything that a test may want to change.
type setup struct {
	t       *testing.T
	model   *script
	store   *memlog.Store
	log     session.Log
	options agent.Options
	tools   []tool.Provider
	hooks   []hook.Hooks
	agent   *agent.Agent
}

func newSetup(t *testing.T, answers ...answerFunc) *setup {
	t.Helper()
	store := memlog.New()
	log, err := store.Create(t.Context(), session.Created{ID: "s1", Workspace: "/w", Time: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	s := &setup{t: t, model: &script{answers: answers}, store: store, log: log}
	s.options = agent.Options{Log: log, Model: s.model, Info: llm.Info{Provider: "p", Name: "m", MaxOutputTokens: 100}, Logger: slog.New(slog.DiscardHandler), Name: "tureen"}
	return s
}

// open builds the agent from what the test set.
func (s *setup) open() *agent.Agent {
	s.t.Helper()
	state, err := fold.Full(s.t.Context(), s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	s.options.State = state
	if s.options.Tools, err = tool.NewRegistry(s.t.Context(), "s1", s.tools); err != nil {
		s.t.Fatal(err)
	}
	s.options.Hooks = hook.NewChain(s.options.Logger, s.hooks...)
	if s.agent, err = agent.Open(s.t.Context(), s.options); err == nil {
		err = s.agent.Begin(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return s.agent
}

// run prompts and runs until idle.
func (s *setup) run(prompt string) (session.Reason, *session.Failure) {
	s.t.Helper()
	if s.agent == nil {
		s.open()
	}
	if prompt != "" {
		if err := s.agent.Prompt(s.t.Context(), prompt); err != nil {
			s.t.Fatal(err)
		}
	}
	reason, failure, err := s.agent.Run(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.check()
	return reason, failure
}

func (s *setup) completed(prompt string) {
	s.t.Helper()
	if reason, failure := s.run(prompt); reason != session.ReasonCompleted {
		s.t.Fatalf("the run ended %s (%+v)", reason, failure)
	}
}

// check holds the log against its rules.
func (s *setup) check() {
	s.t.Helper()
	violations, err := fold.Check(s.t.Context(), s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, v := range violations {
		s.t.Errorf("log: event %d breaks %q: %s", v.Seq, v.Rule, v.Text)
	}
}

func (s *setup) events() []session.Event {
	s.t.Helper()
	var out []session.Event
	for e, err := range s.log.Read(context.Background(), session.Query{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// kinds lists the kinds of the events, without those of opening.
func (s *setup) kinds() string {
	var out []string
	for _, e := range s.events() {
		if e.Kind != session.KindSessionCreated && e.Kind != session.KindSessionOpened {
			out = append(out, string(e.Kind))
		}
	}
	return strings.Join(out, " ")
}

func (s *setup) count(k session.Kind) int {
	n := 0
	for _, e := range s.events() {
		if e.Kind == k {
			n++
		}
	}
	return n
}

// shown lists the messages of the n-th request, as "role: text".
func (s *setup) shown(n int) []string {
	s.t.Helper()
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	if n >= len(s.model.requests) {
		s.t.Fatalf("request %d was never made; there were %d", n, len(s.model.requests))
	}
	var out []string
	for _, m := range s.model.requests[n].Messages {
		text := m.Text()
		for _, c := range m.Calls() {
			text += fmt.Sprintf("[%s %s]", c.ID, c.Name)
		}
		out = append(out, string(m.Role)+": "+text)
	}
	return out
}

// last is the last message of the n-th request.
func (s *setup) last(n int) string { list := s.shown(n); return list[len(list)-1] }

var errPlugin = errors.New("the plugin broke")
