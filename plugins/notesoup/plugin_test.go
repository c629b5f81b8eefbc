package notesoup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/notesoup"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// desk is a session served by the plugin over the wire.
type desk struct {
	*compactiontest.Session
	t      *testing.T
	plugin *plugintest.Plugin
	home   string
	step   int
}

func sit(t *testing.T, config string) *desk {
	t.Helper()
	d := &desk{Session: compactiontest.New(t, notesoup.Name, "You work."), t: t, home: filepath.Join(t.TempDir(), "notes")}
	var err error
	if d.Budget, err = compaction.Resolve(compaction.BudgetConfig{}, 65536, 8192, "profile"); err != nil {
		t.Fatal(err)
	}
	d.serve(config)
	return d
}

// serve starts a process of the plugin and opens the session in it.
func (d *desk) serve(config string) {
	d.t.Helper()
	opened := d.Opened()
	opened.Workspace = filepath.Join(d.t.TempDir(), "app")
	if err := os.MkdirAll(filepath.Join(opened.Workspace, ".git"), 0o755); err != nil {
		d.t.Fatal(err)
	}
	d.plugin = plugintest.Run(d.t, notesoup.Plugin("1.2.3"), plugintest.Host{Config: json.RawMessage(config), NotesHome: d.home, Sessions: []compaction.Session{opened}})
}

// call runs a tool in a step of its own.
func (d *desk) call(name string, args any) tool.Result {
	d.t.Helper()
	d.step++
	return d.beside(name, args, -1)
}

// beside runs a tool in the step of the call before.
func (d *desk) beside(name string, args any, room int) tool.Result {
	d.t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := d.plugin.Tools().Call(d.t.Context(), tool.Call{Session: "s1", Turn: 1, Step: d.step, ID: "c", Name: name, Arguments: b, Room: room}, func(string) {})
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// did runs a tool and logs the call with its result, as the host does.
func (d *desk) did(name string, args any) tool.Result {
	d.t.Helper()
	r := d.call(name, args)
	id := fmt.Sprint("c", d.step)
	b, _ := json.Marshal(args)
	d.Assistant("", llm.ToolCall{ID: id, Name: name, Arguments: string(b)})
	d.Result(id, name, r.Text, r.IsError)
	return r
}

type object = map[string]any

func TestN1_N8_N16_NotesOutliveAResetOverTheWire(t *testing.T) {
	t.Parallel()
	d := sit(t, `{"carry":"request"}`)
	strategy := d.plugin.Strategy()
	opening := d.Open(strategy)
	if len(opening.Sections) != 1 || opening.Sections[0].Order != 2450 || len(opening.Marks) != 2 || len(opening.Records) != 1 {
		t.Fatalf("opening: %+v", opening)
	}
	d.Turn()
	d.User(session.SourceOwner, "Collect the codes.")
	if r := d.did("notes_write", object{"path": "progress", "text": "a.txt: K-17\n", "mode": "append"}); r.IsError || !strings.HasPrefix(r.Text, "ok notes_write progress.md mode=append ") || !strings.Contains(r.Text, "created=yes") {
		t.Fatalf("%+v", r)
	}
	r := d.did("notes_write", object{"path": "progress", "text": "again"})
	if !r.IsError || r.Code != "E_EXISTS" || !strings.HasPrefix(r.Text, "Error: E_EXISTS: progress.md exists already (rev=") {
		t.Fatalf("%+v", r)
	}
	d.did("notes_write", object{"path": "progress", "text": "b.txt: K-23\n", "mode": "append"})
	if r := d.call("notes_read", object{"path": "progress"}); !strings.HasSuffix(r.Text, "\na.txt: K-17\nb.txt: K-23\n") {
		t.Fatalf("%+v", r)
	}
	p := d.Compact(strategy, d.Input(session.TriggerPressure))
	if p.Kind != compaction.KindReset || d.Calls() != 0 {
		t.Fatalf("proposal %+v, %d model calls", p, d.Calls())
	}
	system, checkpoint := d.Messages()[0].Text(), d.Messages()[1].Text()
	for _, part := range []string{`<notebook window="2"`, "a.txt: K-17\nb.txt: K-23\n", "ok notes_write progress.md mode=append rev="} {
		if !strings.Contains(system, part) {
			t.Errorf("node 0 misses %q", part)
		}
	}
	if !strings.Contains(checkpoint, "\nCollect the codes.\n</owner>") || strings.Contains(checkpoint, "K-17") {
		t.Errorf("checkpoint: %q", checkpoint)
	}
	frozen := d.system()
	d.serve(`{"carry":"request"}`) // another process
	d.Open(d.plugin.Strategy())
	if d.system() != frozen {
		t.Errorf("the boot changed over a restart:\n%s\n---\n%s", frozen, d.system())
	}
}

func (d *desk) system() string { return d.Messages()[0].Text() }

func TestN11_N14_RemainingIsTheNumberOfTheReminder(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	opening := d.Open(d.plugin.Strategy())
	d.Turn()
	d.User(session.SourceOwner, strings.Repeat("x", 3*30000))
	m, err := d.Meter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := d.call("get_context_remaining", object{})
	room := m.Window - m.Measured - m.Reserve
	want := fmt.Sprintf("ok get_context_remaining room=%d physical=%d reserve=%d measured=%d window=65536 source=estimate\n", room, m.Window-m.Measured, m.Reserve, m.Measured)
	if r.IsError || !strings.HasPrefix(r.Text, want) {
		t.Errorf("got  %q\nwant %q", r.Text, want)
	}
	// the host puts (remaining - reserve) into the text when the mark is due
	if remaining := m.Window - m.Measured; remaining-m.Reserve != room || !strings.Contains(opening.Marks[0].Text, "{{room}}") {
		t.Error("the reminder would tell another number")
	}
	d.User(session.SourceOwner, strings.Repeat("x", 3*30000))
	if r := d.call("get_context_remaining", object{}); !strings.Contains(r.Text, " room=0 ") {
		t.Errorf("past the line: %q", r.Text)
	}
	d.Budget = compaction.Budget{}
	if r := d.call("get_context_remaining", object{}); r.IsError || !strings.Contains(r.Text, "room=null physical=null reserve=null") || !strings.Contains(r.Text, "window=null") {
		t.Errorf("unknown window: %q", r.Text)
	}
}

func TestN12_EmptyBrainArmsAndSaysWhatCancels(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	if r := d.call("empty_brain", object{}); !r.IsError || len(r.Effects) != 0 || r.Code != "NOT_ACTIVE" {
		t.Errorf("without the strategy: %+v", r)
	}
	d.Open(d.plugin.Strategy())
	r := d.call("empty_brain", object{"note": "look at b.txt"})
	if r.IsError || !slices.Equal(r.Effects, []tool.Effect{tool.EffectRequestCompaction}) || r.Note != "look at b.txt" {
		t.Errorf("%+v", r)
	}
	if !strings.HasPrefix(r.Text, "ok empty_brain armed=yes note_cp=13\n") || !strings.Contains(r.Text, "error") || !strings.Contains(r.Text, "cancelled") {
		t.Errorf("%q", r.Text)
	}
	if r := d.call("empty_brain", object{"note": strings.Repeat("é", 501)}); !r.IsError || r.Code != "E_TOO_LARGE" || len(r.Effects) != 0 {
		t.Errorf("%+v", r)
	}
	if r := d.call("empty_brain", object{"note": strings.Repeat("é", 500)}); r.IsError {
		t.Errorf("%+v", r)
	}
}

func TestN8_N9_EveryToolWorksOverTheWire(t *testing.T) {
	t.Parallel()
	d := sit(t, `{"agent_name":"helper"}`)
	d.Open(d.plugin.Strategy())
	d.Turn()
	request := d.User(session.SourceOwner, "Collect the codes.")
	for _, c := range []struct {
		tool string
		args object
		want string // the start of the result
	}{
		{"notes_write", object{"path": "@self/how", "text": "one\ntwo\n"}, "ok notes_write @self/how.md mode=create "},
		{"notes_edit", object{"path": "@self/how", "edits": []object{{"old": "two", "new": "three"}}}, "ok notes_edit @self/how.md edits=1 rev="},
		{"notes_edit", object{"path": "@self/how"}, "Error: give either edits or move_to"},
		{"notes_read", object{"path": "@self/how", "from": -1}, "ok notes_read @self/how.md rev="},
		{"notes_search", object{"query": "THREE"}, "ok notes_search query=THREE matches=1 notes=1\n@self/how.md:2 "},
		{"notes_list", object{}, "ok notes_list notes=1 sort=recent\n@self/how.md rev="},
		{"notes_edit", object{"path": "@self/how", "move_to": ".trash"}, "ok notes_edit @self/how.md moved_to=.trash "},
		{"notes_read", object{"path": "../secret"}, "Error: E_ADDRESS: "},
		{"notes_read", object{"path": "@self/how"}, "Error: E_NOT_FOUND: "},
		{"history_windows", object{}, "ok history_windows windows=1\nwindow=1 "},
		{"history_list", object{"query": "codes"}, fmt.Sprintf("ok history_list items=1\nseq=%d user ", request)},
		{"history_read", object{"seq": request}, fmt.Sprintf("ok history_read seq=%d\nCollect the codes.\n", request)},
		{"history_read", object{"seq": 99999}, "Error: E_NOT_FOUND: there is nothing at seq 99999"},
		{"history_read", object{}, "Error: give either seq, or from and to"},
	} {
		r := d.call(c.tool, c.args)
		if !strings.HasPrefix(r.Text, c.want) || r.IsError != strings.HasPrefix(c.want, "Error") {
			t.Errorf("%s %v: got %q, want %q…", c.tool, c.args, r.Text, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(d.home, "self", "helper")); err != nil {
		t.Error(err)
	}
}

var nextPage = regexp.MustCompile(`^[^\n]* next=(\S+)`)

func TestN8_PagesShareTheBudgetOfAStep(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	block := strings.Repeat(strings.Repeat("x", 99)+"\n", 160)
	for range 8 {
		d.call("notes_write", object{"path": "long", "text": block, "mode": "append"})
	}
	d.step++
	total := 0
	var refused tool.Result
	for range 4 {
		r := d.beside("notes_read", object{"path": "long"}, -1)
		if total += len(r.Text); r.IsError {
			refused = r
		} else if len(r.Text) > 32<<10 || !nextPage.MatchString(r.Text) {
			t.Errorf("a page of %d bytes, or without next", len(r.Text))
		}
	}
	if refused.Code != "E_BUDGET" || total > 66<<10 {
		t.Errorf("%d bytes in one step, refusal %+v", total, refused)
	}
	if r := d.call("notes_read", object{"path": "long"}); r.IsError {
		t.Errorf("the next step: %+v", r)
	}
	d.step++
	if r := d.beside("notes_read", object{"path": "long"}, 4000); len(r.Text) > 3000 || r.IsError {
		t.Errorf("with room for 4000 tokens: %d bytes, error %v", len(r.Text), r.IsError)
	}
	d.step++
	if r := d.beside("notes_read", object{"path": "long"}, 0); len(r.Text) > 1000 || r.IsError {
		t.Errorf("without room: %d bytes, error %v", len(r.Text), r.IsError)
	}
}

func TestN23_AModelChangeMovesModelNotesAlone(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	d.Open(d.plugin.Strategy())
	frozen := d.system()
	d.call("notes_write", object{"path": "@model/quirks", "text": "old"})
	changed := d.Opened()
	changed.Model = "other"
	if err := d.plugin.OpenSession(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if r := d.call("notes_read", object{"path": "@model/quirks"}); r.Code != "E_NOT_FOUND" {
		t.Errorf("%+v", r)
	}
	if d.call("notes_write", object{"path": "@model/quirks", "text": "new"}); d.system() != frozen {
		t.Error("the boot changed")
	}
	for _, name := range []string{"scripted__demo", "scripted__other"} {
		if _, err := os.Stat(filepath.Join(d.home, "model", name, "quirks.md")); err != nil {
			t.Error(err)
		}
	}
}

func TestSpecsAreSmallAndTheirSchemasCompile(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	specs, err := d.plugin.Tools().Tools(t.Context(), "s1")
	if err != nil || len(specs) != 10 {
		t.Fatalf("%d tools, %v", len(specs), err)
	}
	var tools []llm.Tool
	for _, s := range specs {
		if _, err := jsonschema.CompileString(s.Name+".json", string(s.Schema)); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if writes := s.Name == "notes_write" || s.Name == "notes_edit" || s.Name == "empty_brain"; s.Parallel == writes {
			t.Errorf("%s: parallel %v", s.Name, s.Parallel)
		}
		tools = append(tools, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	if n := llm.EstimateTools(tools); n > 2000 {
		t.Errorf("the declarations take about %d tokens", n)
	}
}

func TestConfigSchemaKnowsItsKeys(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.CompileString("notesoup.json", string(notesoup.Plugin("").ConfigSchema))
	if err != nil {
		t.Fatal(err)
	}
	for config, fits := range map[string]bool{
		`{}`:                            true,
		`{"carry":"request"}`:           true,
		`{"carry":"everything"}`:        false,
		`{"agent_name":"../x"}`:         false,
		`{"boot_in_checkpoint":true}`:   true,
		`{"boot_in_checkpoint":"true"}`: false,
		`{"notes_home":"/x"}`:           false,
	} {
		var v any
		if err := json.Unmarshal([]byte(config), &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); (err == nil) != fits {
			t.Errorf("%s: %v", config, err)
		}
	}
}

func TestStartSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	foreign := t.TempDir()
	if err := os.Mkdir(filepath.Join(foreign, "human"), 0o755); err != nil {
		t.Fatal(err)
	}
	for home, part := range map[string]string{"": "TUREEN_NOTES_HOME", foreign: ".notes.json"} {
		_, err := notesoup.Plugin("").Start(t.Context(), sdk.Init{Config: json.RawMessage(`{}`), NotesHome: home})
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: got %v", home, err)
		}
	}
}

func TestN22_AMissingCapabilityNamesItsRow(t *testing.T) {
	t.Parallel()
	for _, capability := range notesoup.Plugin("1").Capabilities {
		_, err := plugintest.Start(t, notesoup.Plugin("1"), plugintest.Host{NotesHome: t.TempDir(), Deny: []sdk.Capability{capability}, Sessions: []compaction.Session{{ID: "s1", Workspace: t.TempDir(), Agent: "tureen"}}})
		if err == nil || !strings.Contains(err.Error(), string(capability)) || !strings.Contains(err.Error(), `[[plugins]] row with use = "notesoup"`) {
			t.Errorf("%s: got %v", capability, err)
		}
	}
}

// What a session's host does not lend is found out before the first request.
func TestN22_TheHostIsProbedBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	for name, lent := range map[string]session.Access{"events": noEvents{}, "meter": noMeter{}} {
		d := sit(t, `{}`)
		opened := d.Opened()
		if opened.Access = lent; name == "meter" {
			opened.Access = noMeter{d.Session}
		}
		plugin := plugintest.Run(t, notesoup.Plugin("1"), plugintest.Host{NotesHome: d.home, Sessions: []compaction.Session{opened}})
		if _, err := plugin.Strategy().Open(t.Context(), opened); err == nil || !strings.Contains(err.Error(), "notesoup") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

type noEvents struct{ session.Refusing }

type noMeter struct{ session.Access }

func (noMeter) Meter(context.Context) (session.Meter, error) {
	return session.Meter{}, errors.New("no meter")
}

func TestN13_BudgetErrorsKeepTheirCodeOverTheWire(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	opened := d.Opened()
	opened.FixedTokens = opened.Budget.ResetAt
	_, err := d.plugin.Strategy().Open(t.Context(), opened)
	var coded *sdk.Error
	if !errors.As(err, &coded) || coded.Code != "BUDGET_CONFIG" || !strings.Contains(err.Error(), strconv.Itoa(opened.Budget.Window)) {
		t.Errorf("got %v", err)
	}
}

// The user's word for the project goes with the start of the plugin.
func TestN4_TheUserNamesTheProjectOverTheWire(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	opened := d.Opened()
	opened.Workspace = t.TempDir()
	d.plugin = plugintest.Run(t, notesoup.Plugin("1"), plugintest.Host{NotesHome: d.home, Project: "Side Work", Sessions: []compaction.Session{opened}})
	d.call("notes_write", object{"path": "@project/log", "text": "x"})
	if _, err := os.Stat(filepath.Join(d.home, "projects", "side-work", "log.md")); err != nil {
		t.Error(err)
	}
}
