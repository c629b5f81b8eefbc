package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// pythonPlugin puts a plugin in Python into the working directory, the SDK inside it,
// as somebody does who has copied both, and returns how a profile names it.
func pythonPlugin(t *testing.T, u *sandbox, name, program string) string {
	t.Helper()
	dir := u.path("work", name)
	mkdir(t, dir)
	write(t, filepath.Join(dir, "plugin.toml"), `name = "`+name+`"
argv = ["/usr/bin/python3", "-B", "`+name+`.py"]
`)
	write(t, filepath.Join(dir, name+".py"), program)
	if err := os.CopyFS(filepath.Join(dir, "tureen_plugin"), os.DirFS("../../plugins/python/tureen_plugin")); err != nil {
		t.Fatal(err)
	}
	return "./" + name
}

// pythonExample is the program of an example.
func pythonExample(t *testing.T, name string) string {
	t.Helper()
	program, err := os.ReadFile(filepath.Join("../../plugins/python/examples", name, name+".py"))
	if err != nil {
		t.Fatal(err)
	}
	return string(program)
}

// pythonProcess finds the process that runs a program, 0 where there is none.
func (s *sandbox) pythonProcess(program string) int {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		env, err := os.ReadFile(file)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && bytes.Contains(env, []byte(s.dir)) && bytes.HasSuffix(line, []byte("\x00"+program+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	return 0
}

// A sliding window in Python: the demonstration's report is complete, and the notes of
// each compaction go on from those before.
func TestG1_DemoUnderAPythonWindow(t *testing.T) {
	t.Parallel()
	u := demo(t)
	path, err := filepath.Abs("../../plugins/python/examples/window")
	if err != nil {
		t.Fatal(err)
	}
	r, o := runDemo(t, u, "-P", "demo", "-c", "compaction.strategy="+path)
	if len(r.Compactions) < 2 || r.ModelCalls.Compaction != 0 {
		t.Errorf("compactions %v with %d model calls", kinds(r), r.ModelCalls.Compaction)
	}
	checkReport(t, u, r, o.stderr)
	checkSession(t, u, r)
	events, _, err := u.events(r.Session)
	if err != nil {
		t.Fatal(err)
	}
	records := find(t, events, session.KindRecord, func(r session.Record) bool { return r.Plugin == "window" && r.Kind == "notes" })
	if len(records) != len(r.Compactions) {
		t.Fatalf("%d records of notes for %d compactions", len(records), len(r.Compactions))
	}
	last, _ := session.Decode[session.Record](records[len(records)-1])
	if !strings.Contains(string(last.Data), `logs/001.md`) || !strings.Contains(string(last.Data), `logs/020.md`) {
		t.Errorf("the last notes are %s", last.Data)
	}
}

// What Python tools answer, failures too, is what the model sees.
func TestG1_PythonToolsAnswerTheModel(t *testing.T) {
	t.Parallel()
	p, model := boxed(t, &plan{replies: []scripted.Reply{
		batch(1, "count_words", object{"path": "words.txt"}, "top_words", object{"path": "words.txt", "limit": 1}, "count_words", object{"path": "../out.txt"}),
		batch(2, "top_words", object{"limit": 1}),
		{Text: "Counted."},
	}}, "[[plugins]]\nuse = \"./words\"\nconfig = {min_length = 3}\n")
	pythonPlugin(t, p.sandbox, "words", pythonExample(t, "words"))
	write(t, p.path("work", "words.txt"), "ebb and flow\nflow is Flow é\n")
	if r := p.ends(t, 0, ""); r.Text != "Counted." {
		t.Errorf("%+v", r)
	}
	requests := model.asked()
	shown := ""
	for _, m := range requests[len(requests)-1].Messages {
		if m.Role == llm.RoleTool {
			shown += m.Text() + "\n"
		}
	}
	for _, want := range []string{"words.txt: 2 lines, 5 words, 28 characters\n", "3\tflow\n", "Error: ../out.txt lies outside of the working directory; name a file in it\n", `"path"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in what the model was shown:\n%s", want, shown)
		}
	}
}

// ender does something before it answers the request of a number.
type ender struct {
	scripted.Agent
	at int
	do func()

	mu    sync.Mutex
	count int
}

func (e *ender) Reply(req llm.Request) scripted.Reply {
	e.mu.Lock()
	e.count++
	now := e.count == e.at
	e.mu.Unlock()
	if now {
		e.do()
	}
	return e.Agent.Reply(req)
}

// The strategy's process is killed from outside while the run goes on: the next
// compaction finds another one, and the notes that were written before.
func TestG1_AKilledPythonStrategyIsStartedAgain(t *testing.T) {
	t.Parallel()
	u := demo(t)
	killed := 0
	agent := &ender{Agent: scripted.Rules{}, at: 10, do: func() {
		if killed = u.pythonProcess("window.py"); killed > 0 {
			_ = syscall.Kill(killed, syscall.SIGKILL)
		}
	}}
	withModel(agent)(t, u)
	path := u.path("work", pythonPlugin(t, u, "window", pythonExample(t, "window")))
	r, o := runDemo(t, u, "-P", "notesoup", "-c", "model.name=m", "-c", "model.max_output_tokens=2000", "-c", "compaction.strategy="+path)
	if killed == 0 || len(r.Compactions) < 2 {
		t.Errorf("process %d was killed, compactions %v", killed, kinds(r))
	}
	checkReport(t, u, r, o.stderr)
	events, _, err := u.events(r.Session)
	if err != nil {
		t.Fatal(err)
	}
	if again := find(t, events, session.KindPlugin, func(s session.PluginState) bool { return s.Plugin == "window" && s.Generation == 2 }); len(again) == 0 {
		t.Error("the log has no second generation")
	}
}

const mortal = `import os, signal
from tureen_plugin import Input, Plugin, Proposal, newest, replace

plugin = Plugin("mortal", "1.0.0")

@plugin.opened
def opened(session):
    open(os.path.join(session.workspace, f"opened-{os.getpid()}"), "w").close()

@plugin.tool("ends its own process")
def die(call):
    os.kill(os.getpid(), signal.SIGKILL)

@plugin.propose
async def propose(ask: Input) -> Proposal:
    marker = os.path.join(ask.session.workspace, "died")
    if not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return Proposal([replace(ask.nodes[1], ask.nodes[newest(ask.nodes, 500) - 1], "Much was read.")])

plugin.serve()
`

// A process that dies while it proposes, or in a call, costs that proposal and that
// call; the run goes on.
func TestG1_APythonPluginThatDiesMidCallCostsThatCall(t *testing.T) {
	t.Parallel()
	var p *crew
	again := func() { // another process has the session open
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if opened, _ := filepath.Glob(p.path("work", "opened-*")); len(opened) > 1 {
				return
			}
		}
	}
	agent := &ender{Agent: &plan{replies: []scripted.Reply{half(1), much(2), batch(3, "read", reads("a.md")), {Text: "Done."}}}, at: 3, do: again}
	p, _ = boxed(t, agent, "", "-c", "compaction.strategy=./mortal")
	pythonPlugin(t, p.sandbox, "mortal", mortal)
	if r := p.ends(t, 0, ""); r.Text != "Done." || len(r.Compactions) != 1 {
		t.Errorf("%+v", r)
	}
	failed := find(t, p.log(t), session.KindCompactionFailed, func(f session.CompactionFailed) bool { return strings.Contains(f.Error, "mortal") })
	if len(failed) != 1 {
		t.Errorf("%d compactions failed", len(failed))
	}

	p, model := boxed(t, &plan{replies: []scripted.Reply{batch(1, "die", object{}), batch(2, "read", reads("a.md")), {Text: "Done."}}}, "[[plugins]]\nuse = \"./mortal\"\n")
	pythonPlugin(t, p.sandbox, "mortal", mortal)
	if r := p.ends(t, 0, ""); r.Text != "Done." {
		t.Errorf("%+v", r)
	}
	if got := holding(model.asked()[1], "Error: "); len(got) != 0 {
		t.Errorf("a message of the user says %q", got)
	}
	results := find(t, p.log(t), session.KindToolResult, func(r session.ToolResult) bool { return r.Message.IsError })
	if len(results) != 1 {
		t.Errorf("%d results are errors", len(results))
	}
}
