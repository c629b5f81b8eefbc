package planning_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/planning"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// run is the plugin over the wire with one session and what a host does with it.
type run struct {
	t        *testing.T
	book     *book
	config   string
	deny     []sdk.Capability
	session  compaction.Session
	remote   *plugintest.Plugin
	tools    *tool.Registry
	provider tool.Provider
	hooks    hook.Hooks
	commands command.Provider
	prompt   prompt.Provider
	calls    int
}

// start starts the plugin; config is its config, "" for none.
func start(t *testing.T, config string) *run {
	t.Helper()
	r := &run{t: t, book: &book{}, config: config}
	r.session = compaction.Session{ID: "s", Workspace: "/w", Access: r.book}
	r.restart()
	return r
}

// restart has another process serve the session.
func (r *run) restart() {
	r.t.Helper()
	config := json.RawMessage(r.config)
	if r.config == "" {
		config = json.RawMessage(`{}`)
	}
	r.remote = plugintest.Run(r.t, planning.Plugin("1.0.0"), plugintest.Host{Config: config, Deny: r.deny, Sessions: []compaction.Session{r.session}})
	r.provider, r.hooks = r.remote.Tools(), r.remote.Hooks(r.remote.Info.HookPoints, "end_turn")
	r.commands, r.prompt = r.remote.Commands(), r.remote.Prompt()
	var err error
	if r.tools, err = tool.NewRegistry(r.t.Context(), "s", []tool.Provider{r.provider}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) where() hook.Where {
	return hook.Where{Session: "s", Turn: r.book.turn, Step: r.book.step}
}

// turn begins a turn with what the person says, "" for what waits in the inbox.
func (r *run) turn(said string) {
	r.t.Helper()
	r.book.turn++
	r.book.step = 0
	r.steps(said, session.SourceOwner)
}

// steps takes the next step of the turn and returns what it shows.
func (r *run) steps(said string, source session.Source) (shown []string) {
	r.t.Helper()
	if said != "" {
		r.book.queue(session.InboxItem{Queue: session.NextTurn, Source: source, Text: said, Wake: true})
	}
	claimed := session.InboxClaimed{}
	var pending []hook.Pending
	for _, e := range r.book.inbox {
		item, err := session.Decode[session.InboxItem](e)
		if err != nil {
			r.t.Fatal(err)
		}
		pending = append(pending, hook.Pending{Text: item.Text, Source: item.Source, From: item.From, Key: item.Key})
		claimed.Items = append(claimed.Items, e.Seq)
	}
	d, err := r.hooks.BeforeStep(r.t.Context(), r.where(), pending)
	if err != nil || d.Reject != "" {
		r.t.Fatalf("before step: %q %v", d.Reject, err)
	}
	for _, text := range d.Inject {
		pending = append(pending, hook.Pending{Text: text, Source: session.SourcePlugin})
	}
	r.book.inbox = nil
	r.book.step++
	if len(claimed.Items) > 0 {
		r.book.add(session.KindInboxClaimed, claimed)
	}
	for _, m := range pending {
		r.book.add(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, m.Text), Source: m.Source, From: m.From})
		shown = append(shown, m.Text)
	}
	return shown
}

// call runs a tool as the host does, arguments checked against the schema first.
func (r *run) call(name string, arguments any) tool.Result {
	r.t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		r.t.Fatal(err)
	}
	if bad, refused := r.tools.Validate(name, raw); refused {
		return bad
	}
	return r.dispatch(name, raw)
}

// dispatch runs a tool whatever its arguments.
func (r *run) dispatch(name string, raw json.RawMessage) tool.Result {
	r.t.Helper()
	r.calls++
	id := fmt.Sprintf("c%d", r.calls)
	r.book.add(session.KindMessageAssistant, session.Assistant{Message: llm.Text(llm.RoleAssistant, "calls")})
	r.book.add(session.KindToolStarted, session.ToolStarted{CallID: id, Name: name, Plugin: planning.Name})
	result, err := r.provider.Call(r.t.Context(), tool.Call{Session: "s", Turn: r.book.turn, Step: r.book.step, ID: id, Name: name, Arguments: raw, Room: -1}, func(string) {})
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	r.book.add(session.KindToolResult, session.ToolResult{Message: llm.ToolResult(id, result.Text, result.IsError), Name: name})
	return result
}

// works calls a tool of another plugin.
func (r *run) works() {
	r.book.add(session.KindToolStarted, session.ToolStarted{CallID: "x", Name: "shell", Plugin: "shell"})
}

// stopping answers with text, and returns the message that keeps the turn open.
func (r *run) stopping(stop llm.StopReason) string {
	r.t.Helper()
	r.book.add(session.KindMessageAssistant, session.Assistant{Message: llm.Text(llm.RoleAssistant, "I will go on now."), Stop: stop})
	d, err := r.hooks.TurnStopping(r.t.Context(), r.where())
	if err != nil || d.Stop != nil {
		r.t.Fatalf("turn stopping: %+v %v", d.Stop, err)
	}
	return d.Continue
}

// end ends the turn.
func (r *run) end(reason session.Reason, failure *session.Failure) {
	r.t.Helper()
	ended := session.TurnEnded{Reason: reason, Error: failure}
	r.book.add(session.KindTurnEnded, ended)
	if err := r.hooks.TurnEnded(r.t.Context(), r.where(), ended); err != nil {
		r.t.Fatal(err)
	}
}

// idle asks what to do next and queues it as the host does, without a name.
func (r *run) idle() string {
	r.t.Helper()
	if len(r.book.inbox) > 0 {
		r.t.Fatal("idle is asked only where nothing is owed")
	}
	d, err := r.hooks.Idle(r.t.Context(), r.where())
	if err != nil || d.Wait != "" {
		r.t.Fatalf("idle: %q %v", d.Wait, err)
	}
	if d.FollowUp != "" {
		r.book.queue(session.InboxItem{Queue: session.NextTurn, Source: session.SourcePlugin, Text: d.FollowUp, Wake: true})
	}
	return d.FollowUp
}

// types gives a command that must succeed.
func (r *run) types(line string) string {
	r.t.Helper()
	text, err := r.fails(line)
	if err != nil {
		r.t.Fatalf("%s: %v", line, err)
	}
	return text
}

// fails gives a command.
func (r *run) fails(line string) (string, error) {
	r.t.Helper()
	name, arguments, ok := command.Parse(line)
	if !ok {
		r.t.Fatalf("%q is no command", line)
	}
	return r.commands.Run(r.t.Context(), "s", name, arguments)
}

// context is the text of one of the plugin's contexts, "" where it has none.
func (r *run) context(id string) string {
	r.t.Helper()
	contexts, err := r.prompt.Contexts(r.t.Context(), "s")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range contexts {
		if !c.Own {
			r.t.Errorf("context %q is no message of its own", c.ID)
		}
		if c.ID == id {
			return c.Text
		}
	}
	return ""
}

// goal is the goal as the newest record has it.
func (r *run) goal() planning.Goal {
	r.t.Helper()
	var newest planning.Goal
	for e := range r.book.Events(r.t.Context(), session.Query{Kinds: []session.Kind{session.KindRecord}}) {
		if rec, _ := session.Decode[session.Record](e); rec.Kind == "goal" {
			var goal struct{ Now planning.Goal }
			if err := json.Unmarshal(rec.Data, &goal); err != nil {
				r.t.Fatal(err)
			}
			newest = goal.Now
		}
	}
	return newest
}

type object = map[string]any

// list makes the arguments of todo_write, each item "status content".
func list(items ...string) object {
	todos := []object{}
	for _, item := range items {
		status, content, _ := strings.Cut(item, " ")
		todos = append(todos, object{"status": status, "content": content})
	}
	return object{"todos": todos}
}

// want fails where a text lacks one of the parts.
func want(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

// refused wants an error result with a code and a text.
func refused(t *testing.T, r tool.Result, code string, parts ...string) {
	t.Helper()
	if !r.IsError || r.Code != code || !strings.HasPrefix(r.Text, "Error: ") {
		t.Errorf("code %q, text %q, want the error %s", r.Code, r.Text, code)
	}
	want(t, r.Text, parts...)
}

// fine wants a result that is no error.
func fine(t *testing.T, r tool.Result, parts ...string) {
	t.Helper()
	if r.IsError {
		t.Errorf("refused: %s: %s", r.Code, r.Text)
	}
	want(t, r.Text, parts...)
}
