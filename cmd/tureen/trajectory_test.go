package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
	"github.com/tureen-host/tureen/host/tool"
)

// trajectories are the conversations of testdata/trajectories, by name.
func trajectories(t *testing.T) map[string]*trajectory {
	t.Helper()
	files, err := filepath.Glob("../../testdata/trajectories/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded conversations: %v", err)
	}
	all := map[string]*trajectory{}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".jsonl")] = readTrajectory(t, file)
	}
	return all
}

// trajectory is a recorded conversation that the loop plays again: it is the model and
// all the tools.
type trajectory struct {
	tools   []tool.Spec
	events  []recorded
	results map[string]recorded
	next    int // the event to be played
	agent   *agent.Agent
}

// recorded is one event of it.
type recorded struct {
	Type      string
	Text      string
	Reasoning string
	ToolCalls []struct {
		ID, Name  string
		Arguments json.RawMessage
	} `json:"tool_calls"`
	CallID  string `json:"call_id"`
	Content string
	IsError bool `json:"is_error"`
	Tools   []struct {
		Name, Description string
	}
}

func readTrajectory(t *testing.T, file string) *trajectory {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr := &trajectory{results: map[string]recorded{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var e recorded
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch e.Type {
		case "header":
			for _, d := range e.Tools {
				tr.tools = append(tr.tools, tool.Spec{Name: d.Name, Description: d.Description, Schema: json.RawMessage(`{"type":"object"}`), NoSpill: true})
			}
		case "tool":
			tr.results[e.CallID] = e
		case "user", "assistant":
			tr.events = append(tr.events, e)
		}
	}
	if err := lines.Err(); err != nil || len(tr.events) == 0 {
		t.Fatalf("%s: %d events, %v", file, len(tr.events), err)
	}
	return tr
}

// heard takes what the person says next, if it is their turn.
func (tr *trajectory) heard() string {
	var said []string
	for ; tr.next < len(tr.events) && tr.events[tr.next].Type == "user"; tr.next++ {
		said = append(said, tr.events[tr.next].Text)
	}
	return strings.Join(said, "\n\n")
}

// Stream implements llm.Model: the next recorded answer.
func (tr *trajectory) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	a := llm.Answer{Message: llm.Text(llm.RoleAssistant, "That is all."), Stop: llm.StopEnd}
	if tr.next < len(tr.events) && tr.events[tr.next].Type == "assistant" {
		e := tr.events[tr.next]
		tr.next++
		a.Message = &llm.Message{Role: llm.RoleAssistant}
		if e.Reasoning != "" {
			a.Message.Blocks = append(a.Message.Blocks, llm.Block{Kind: llm.BlockReasoning, Text: e.Reasoning, Field: "reasoning_content"})
		}
		if e.Text != "" {
			a.Message.Blocks = append(a.Message.Blocks, llm.Block{Kind: llm.BlockText, Text: e.Text})
		}
		for _, c := range e.ToolCalls {
			a.Stop = llm.StopToolCalls
			a.Message.Blocks = append(a.Message.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: string(c.Arguments)}})
		}
	}
	return answered(a)
}

func answered(a llm.Answer) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) { yield(llm.Chunk{Answer: &a}, nil) }
}

func (*trajectory) Info(context.Context) (llm.Info, error) { return llm.Info{Name: "m"}, nil }
func (*trajectory) Name() string                           { return "recorded" }
func (tr *trajectory) Tools(context.Context, string) ([]tool.Spec, error) {
	return tr.tools, nil
}

// Call implements tool.Provider: the recorded result. Where the person spoke next, they
// do so while the last call of the batch works.
func (tr *trajectory) Call(ctx context.Context, c tool.Call, _ func(string)) (tool.Result, error) {
	r := tr.results[c.ID]
	batch := tr.events[tr.next-1].ToolCalls
	if batch[len(batch)-1].ID == c.ID {
		if said := tr.heard(); said != "" {
			if err := tr.agent.Steer(ctx, said); err != nil {
				return tool.Result{}, err
			}
		}
	}
	return tool.Result{Text: r.Content, IsError: r.IsError}, nil
}

// play runs the conversation through a real loop and returns the log that it makes.
func (tr *trajectory) play(t *testing.T) []session.Event {
	t.Helper()
	store := memlog.New()
	log, err := store.Create(t.Context(), session.Created{ID: trajectoryID, Workspace: "/w", Time: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	tr.agent = tr.open(t, log, agent.Options{Model: tr})
	for tr.next < len(tr.events) {
		said := tr.heard()
		if said == "" {
			said = "Go on." // two answers in a row
		}
		if err := tr.agent.Prompt(t.Context(), said); err != nil {
			t.Fatal(err)
		}
		if reason, failure, err := tr.agent.Run(t.Context()); err != nil || reason != session.ReasonCompleted {
			t.Fatalf("event %d of %d: %s %+v %v", tr.next, len(tr.events), reason, failure, err)
		}
	}
	return logged(t, log)
}

const trajectoryID = "s1"

// open opens an agent on a log, with the tools of the conversation.
func (tr *trajectory) open(t *testing.T, log session.Log, o agent.Options) *agent.Agent {
	t.Helper()
	state, err := fold.Full(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	o.Log, o.State, o.Info, o.Name, o.Logger = log, state, llm.Info{Provider: "p", Name: "m", MaxOutputTokens: 100}, "tureen", slog.New(slog.DiscardHandler)
	if o.Tools, err = tool.NewRegistry(t.Context(), trajectoryID, []tool.Provider{tr}); err != nil {
		t.Fatal(err)
	}
	o.Hooks = hook.NewChain(o.Logger)
	a, err := agent.Open(t.Context(), o)
	if err == nil {
		err = a.Begin(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func logged(t *testing.T, log session.Log) (events []session.Event) {
	t.Helper()
	for e, err := range log.Read(t.Context(), session.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}
