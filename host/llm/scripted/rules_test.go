package scripted_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

// checkpointText is an instruction as a summary strategy words it.
const checkpointText = `Stop here and write a checkpoint of the conversation above. Use exactly these headings, in this order.

## Primary Request and Intent
What the user wants, in their words.

## Key Technical Concepts
What matters.

## Files and Code
Paths and why.

## Errors and Fixes
What failed.

## Pending Jobs
What is left.

## Current Work
Where it stood.

## Next Step
The next action.

## Critical Context
Values needed later.

A <compacted-summary> block above is an earlier one: merge it. Call no tool.`

// page is a read result of one page.
func page(path string, more string, lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<path>%s</path>\n<type>file</type>\n<content>\n", path)
	for i, line := range lines {
		fmt.Fprintf(&b, "%d: %s\n", i+1, line)
	}
	if more == "" {
		more = fmt.Sprintf("(End of file - total %d lines)", len(lines))
	}
	return b.String() + more + "\n</content>"
}

func readCall(id, path string) *llm.Message {
	return asked(id, "read", fmt.Sprintf(`{"file_path":%q}`, path))
}

func globbed(names ...string) []*llm.Message {
	return []*llm.Message{asked("g", "glob", `{"pattern":"logs/*"}`), result("g", "logs/"+strings.Join(names, "\nlogs/"))}
}

// finished is a conversation in which two files were listed and read.
func finished() []*llm.Message {
	m := append([]*llm.Message{system("You are an agent."), user(demoTask)}, globbed("b.md", "a.md")...)
	return append(m,
		readCall("1", "logs/a.md"), result("1", page("/w/logs/a.md", "", "# A", "Finding: valve 7 leaks")),
		readCall("2", "logs/b.md"), result("2", page("/w/logs/b.md", "", "Finding: pump 9 hums", "not a Finding: this")))
}

func ask(messages []*llm.Message, offered ...string) scripted.Reply {
	if offered == nil {
		offered = []string{"read", "glob"}
	}
	return scripted.Rules{}.Reply(llm.Request{Messages: messages, Tools: tools(offered...)})
}

func describe(r scripted.Reply) string {
	out := ""
	for _, c := range r.Calls {
		out += c.Name + string(c.Arguments) + " "
	}
	if out == "" {
		return r.Text
	}
	return strings.TrimSpace(out)
}

func TestRulesReportFactsInSight(t *testing.T) {
	t.Parallel()
	want := "Report on logs\n\n2 lines starting with \"Finding:\" in 2 files.\n\n- logs/a.md: Finding: valve 7 leaks\n- logs/b.md: Finding: pump 9 hums"
	if got := ask(finished()).Text; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRulesKnowOnlyWhatTheRequestHolds(t *testing.T) {
	t.Parallel()
	const fact = "pump 9 hums"
	messages := finished()
	for i, m := range messages {
		if strings.Contains(m.Text(), fact) {
			messages[i] = result(m.CallID, strings.Replace(m.Text(), "Finding: "+fact, "(cut)", 1))
		}
	}
	got := ask(messages).Text
	if strings.Contains(got, fact) || !strings.Contains(got, "valve 7 leaks") || !strings.Contains(got, "No such line is in sight of: logs/b.md.") {
		t.Errorf("report without the fact:\n%s", got)
	}
}

func TestRulesAreAPureFunction(t *testing.T) {
	t.Parallel()
	agent := scripted.Rules{}
	requests := []llm.Request{
		{Messages: finished(), Tools: tools("read", "glob")},
		{Messages: finished()[:4], Tools: tools("read", "glob", "notes_write")},
		{Messages: append(finished()[:6:6], user(checkpointText)), Tools: tools("read", "glob")},
	}
	var first []scripted.Reply
	for _, req := range requests {
		first = append(first, agent.Reply(req))
	}
	for i := range requests {
		if again := (scripted.Rules{}).Reply(requests[i]); !reflect.DeepEqual(again, first[i]) {
			t.Errorf("request %d: %+v, then %+v", i, first[i], again)
		}
	}
	if !reflect.DeepEqual(requests[0].Messages, finished()) {
		t.Error("the request was changed")
	}
}

func TestRulesUnderstandTheTask(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ says, pattern string }{
		{demoTask, "logs/*"},
		{"Please read all files under ./notes/raw in name order and report every line that begins with `TODO:`.", "notes/raw/*"},
		{"Report each line that starts with 'ERR' in every file of the folder /var/x. Read them one by one.", "/var/x/*"},
		{"Read the files in order and report the findings.", "logs/*"},
		{"read all files and report what they say", "logs/*"},
		{"Go through every file in the directory \"field logs\" and report each line starting with Finding:", "field logs/*"},
		{"Hello.\n\nRead every file in order from data\nand report each line that starts with \"X\".\n\nThanks!", "data/*"},
	} {
		got := ask([]*llm.Message{user(row.says)})
		if want := fmt.Sprintf(`glob{"pattern":%q}`, row.pattern); describe(got) != want {
			t.Errorf("%q: %s, want %s", row.says, describe(got), want)
		}
	}
	for _, says := range []string{"Hello", "What can you do?", "Which files did you read?", "Fix the bug in main.go"} {
		if got := ask([]*llm.Message{user(says)}); len(got.Calls) > 0 || !strings.Contains(got.Text, "demonstration agent") {
			t.Errorf("%q: %s", says, describe(got))
		}
	}
}

func TestRulesAnswerAQuestionFromWhatIsInSight(t *testing.T) {
	t.Parallel()
	report := ask(finished())
	messages := append(finished(), llm.Text(llm.RoleAssistant, report.Text), user("Which valve leaks?"))
	if got := ask(messages).Text; !strings.Contains(got, "logs/a.md: Finding: valve 7 leaks") || strings.Contains(got, "pump 9") {
		t.Errorf("got %s", got)
	}
	messages[len(messages)-1] = user("Continue with the work.")
	if got := ask(messages).Text; got != report.Text {
		t.Errorf("asked to go on: %s", got)
	}
}

func TestRulesAnswerAfterTheTurnIsOver(t *testing.T) {
	t.Parallel()
	checkpoint := user("A fresh window.\n\nThe owner's last request; its turn is over (completed):\n<owner seq=\"4\">\n" + demoTask + "\n</owner>\n\n- logs/a.md: Finding: valve 7 leaks")
	if got := ask([]*llm.Message{system("s"), checkpoint, user("Tell me about the valve.")}); !strings.HasPrefix(got.Text, "What I see about that:") {
		t.Errorf("a new request: %s", describe(got))
	}
	open := user(strings.Replace(checkpoint.Text(), "its turn is over (completed)", "word for word", 1))
	got := ask([]*llm.Message{system("s"), open}, "read", "glob")
	if describe(got) != `glob{"pattern":"logs/*"}` || !strings.Contains(got.Text, "Task: "+demoTask+"\n") {
		t.Errorf("a turn that goes on: %+v", got)
	}
}

func TestRulesProgress(t *testing.T) {
	t.Parallel()
	start := []*llm.Message{system("You are an agent."), user(demoTask)}
	listing := globbed("a.md", "b.md", "c.md", "d.md")
	errorResult := "Error: cannot read \"logs/a.md\": not found"
	rows := []struct {
		name     string
		messages []*llm.Message
		want     string
	}{
		{"a listing is no progress", listing, `read{"file_path":"logs/a.md"} read{"file_path":"logs/b.md"}`},
		{"after the greatest name", append(listing, readCall("1", "logs/b.md"), result("1", page("/w/logs/b.md", "", "x"))),
			`read{"file_path":"logs/c.md"} read{"file_path":"logs/d.md"}`},
		{"the next page first", append(listing, readCall("1", "logs/b.md"), result("1", page("/w/logs/b.md", "(Showing lines 1-9 of 20. Use offset=10 to continue.)", "x"))),
			`read{"file_path":"logs/a.md"} read{"file_path":"logs/b.md","offset":10}`},
		{"a cleared result was read", append(listing, readCall("1", "logs/b.md"), result("1", "[old result removed]")),
			`read{"file_path":"logs/c.md"} read{"file_path":"logs/d.md"}`},
		{"a failure is tried again", append(listing, readCall("1", "logs/a.md"), result("1", errorResult), readCall("2", "logs/b.md"), result("2", page("/w/logs/b.md", "", "x"))),
			`read{"file_path":"logs/a.md"} read{"file_path":"logs/c.md"}`},
		{"and then left", append(listing, readCall("1", "logs/a.md"), result("1", errorResult), readCall("2", "logs/a.md"), result("2", errorResult)),
			`read{"file_path":"logs/b.md"} read{"file_path":"logs/c.md"}`},
		{"its own words", append([]*llm.Message{llm.Text(llm.RoleAssistant, "Read through: logs/c.md\nNow: list"), user("Continue.")}, listing...),
			`read{"file_path":"logs/d.md"}`},
		{"a replacement text", append([]*llm.Message{user("Files already read: logs/a.md, logs/b.md. Next is logs/c.md.\nFiles read:\n/w/logs/b.md")}, listing...),
			`read{"file_path":"logs/c.md"} read{"file_path":"logs/d.md"}`},
		{"a digest of calls and results", append([]*llm.Message{user("Taken out.\n\n=== read {\"file_path\": \"logs/a.md\"} ===\nFinding: 1\n\n=== read {} ===\n<path>/w/logs/c.md</path>\n\n=== glob {\"pattern\": \"logs/*\"} ===\nlogs/d.md")}, listing...),
			`read{"file_path":"logs/d.md"}`},
		{"a plan is no progress", append([]*llm.Message{user("Next: read logs/c.md. logs/d.md was not read.")}, listing...),
			`read{"file_path":"logs/a.md"} read{"file_path":"logs/b.md"}`},
		{"files of elsewhere", append(listing, readCall("1", "other/d.md"), result("1", page("/w/other/d.md", "", "Finding: not ours"))),
			`read{"file_path":"logs/a.md"} read{"file_path":"logs/b.md"}`},
		{"no list in sight", []*llm.Message{readCall("1", "logs/d.md"), result("1", page("/w/logs/d.md", "", "x"))}, `glob{"pattern":"logs/*"}`},
	}
	for _, row := range rows {
		if got := describe(ask(append(start[:2:2], row.messages...))); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

func TestRulesNeverCallWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	start := []*llm.Message{system("Save your notes early."), user(demoTask)}
	for _, offered := range [][]string{{}, {"glob"}, {"read"}, {"shell"}} {
		if got := ask(start, append(offered, "x")...); len(got.Calls) > 0 || !strings.Contains(got.Text, "takes the tools glob and read") {
			t.Errorf("%v: %s", offered, describe(got))
		}
	}
	if got := ask(start); describe(got) != `glob{"pattern":"logs/*"}` {
		t.Errorf("told to take notes without the tools: %s", describe(got))
	}
	untold := []*llm.Message{system("You are an agent."), user(demoTask)}
	if got := ask(untold, "read", "glob", "notes_write", "notes_read"); describe(got) != `glob{"pattern":"logs/*"}` {
		t.Errorf("notes although nobody asks for them: %s", describe(got))
	}
}

func TestRulesTakeNotes(t *testing.T) {
	t.Parallel()
	all := []string{"read", "glob", "notes_write", "notes_read", "empty_brain"}
	start := []*llm.Message{system("Save early with notes_write."), user(demoTask)}
	step := func(messages []*llm.Message, want string) {
		t.Helper()
		if got := describe(ask(messages, all...)); !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	step(start, `notes_write{"mode":"create","path":"reading-log.md","text":"# Reading log\n\nTask: Read every file in logs`)

	clash := append(start, asked("n", "notes_write", `{"mode":"create","path":"reading-log.md","text":"# x\n"}`), result("n", "Error: E_EXISTS it exists"))
	step(clash, `notes_read{"path":"reading-log.md"}`)
	paged := append(clash, asked("r", "notes_read", `{"path":"reading-log.md"}`), result("r", "ok notes_read reading-log.md next=c8\nTask: "+demoTask+"\n- Read through: logs/b.md\n"))
	step(paged, `notes_read{"cursor":"c8","path":"reading-log.md"}`)
	known := append(paged, asked("s", "notes_read", `{"cursor":"c8","path":"reading-log.md"}`), result("s", "ok notes_read reading-log.md next=-\n- logs/b.md: Finding: kept\n"))
	step(known, `glob{"pattern":"logs/*"}`)

	read := append(known, globbed("a.md", "b.md", "c.md", "d.md", "e.md", "f.md")...)
	if got := describe(ask(read, all...)); got != `read{"file_path":"logs/c.md"}` {
		t.Errorf("the first read of a later window: %s", got)
	}
	for _, name := range []string{"c", "d"} {
		read = append(read, readCall(name, "logs/"+name+".md"), result(name, page("/w/logs/"+name+".md", "", "Finding: "+name)))
		if name == "c" {
			step(read, `notes_write{"mode":"append"`)
			const first = `{"mode":"append","path":"reading-log.md","text":"\n- Read through: logs/b.md\n"}`
			read = append(read, asked("c1", "notes_write", first), result("c1", "ok notes_write reading-log.md"))
		}
	}
	save := `notes_write{"mode":"append","path":"reading-log.md","text":"\n- logs/c.md: Finding: c\n- logs/d.md: Finding: d\n- Read through: logs/d.md\n"}`
	step(read, save) // a later window saves what each step read

	first := append(start, asked("n", "notes_write", `{"mode":"create","path":"reading-log.md","text":"\nTask: `+strings.ReplaceAll(demoTask, `"`, `\"`)+`\n"}`), result("n", "ok notes_write reading-log.md"))
	first = append(first, globbed("c.md", "d.md", "e.md", "f.md")...)
	for _, name := range []string{"c", "d"} {
		first = append(first, readCall(name, "logs/"+name+".md"), result(name, page("/w/logs/"+name+".md", "", "Finding: "+name)))
	}
	step(first, `read{"file_path":"logs/e.md"}`) // two files are not yet worth a note
	step(append(first, user("Room runs short. Bring your notes up to date before you go on.")), save)

	closing := append(read, user(closeOutText))
	step(closing, save)
	saved := append(closing, asked("w", "notes_write", strings.TrimPrefix(save, "notes_write")), result("w", "ok notes_write reading-log.md"))
	step(saved, `empty_brain{"note":"notes are in reading-log.md, read through logs/d.md"}`)
	armed := append(saved, asked("e", "empty_brain", `{}`), result("e", "ok armed"))
	step(armed, `read{"file_path":"logs/e.md"}`) // no reset came: go on
	refused := append(saved, asked("e", "empty_brain", `{}`), result("e", "Error: no"), asked("f", "empty_brain", `{}`), result("f", "Error: no"))
	step(refused, `read{"file_path":"logs/e.md"}`)

	broken := append(start, asked("n", "notes_write", `{"path":"reading-log.md"}`), result("n", "Error: E_IO disk"),
		asked("m", "notes_write", `{"path":"reading-log.md"}`), result("m", "Error: E_IO disk"))
	step(broken, `glob{"pattern":"logs/*"}`)
	checkpoint := append([]*llm.Message{start[0], user("You called empty_brain. Go on. " + demoTask)}, globbed("a.md")...)
	step(checkpoint, `notes_write{"mode":"create"`) // a checkpoint is no close-out
}

func TestRulesNoteANewTask(t *testing.T) {
	t.Parallel()
	old := "ok notes_read reading-log.md rev=1\n# Reading log\n\nTask: Read every file in wells in order and report each line that starts with \"Depth\".\n\n- wells/b.md: Depth 3\n- Read through: wells/b.md\n"
	messages := []*llm.Message{system("Save early in your notes.\n- reading-log.md rev=1"), user(demoTask),
		asked("r", "notes_read", `{"path":"reading-log.md"}`), result("r", old)}
	offered := []string{"read", "glob", "notes_write", "notes_read"}
	got := ask(messages, offered...)
	const write = `{"mode":"append","path":"reading-log.md","text":"\nTask: Read every file in logs in order and report each line that starts with \"Finding:\".\n"}`
	if describe(got) != "notes_write"+write {
		t.Fatalf("got %s", describe(got))
	}
	messages = append(messages, asked("w", "notes_write", write), result("w", "ok notes_write"))
	if got := describe(ask(messages, offered...)); got != `glob{"pattern":"logs/*"}` {
		t.Errorf("got %s", got)
	}
}

func TestRulesFindTheTaskInTheirNotes(t *testing.T) {
	t.Parallel()
	boot := "Save early with notes_write.\n\nreading-log.md\n"
	strict := []*llm.Message{system(boot), user("A fresh notebook lies before you.")}
	offered := []string{"read", "glob", "notes_write", "notes_read"}
	if got := describe(ask(strict, offered...)); got != `notes_read{"path":"reading-log.md"}` {
		t.Errorf("got %s", got)
	}
	notes := "ok notes_read reading-log.md rev=1\n# Reading log\n\nTask: Read every file in wells in order and report each line that starts with \"Depth\".\n\n- Read through: wells/b.md\n"
	strict = append(strict, asked("r", "notes_read", `{"path":"reading-log.md"}`), result("r", notes))
	if got := describe(ask(strict, offered...)); got != `glob{"pattern":"wells/*"}` {
		t.Errorf("got %s", got)
	}
}

func TestC7_RulesFillTheCheckpoint(t *testing.T) {
	t.Parallel()
	prior := user("Condensed.\n\n<compacted-summary>\n## Primary Request and Intent\n- " + demoTask +
		"\n\n## Files and Code\n- Read through: logs/0.md\n\n## Critical Context\n- logs/0.md: Finding: from before\n</compacted-summary>")
	messages := append([]*llm.Message{system("You are an agent."), prior}, globbed("0.md", "a.md", "b.md")...)
	messages = append(messages, readCall("1", "logs/a.md"), result("1", page("/w/logs/a.md", "", "Finding: valve 7 leaks")))
	got := ask(append(messages, user(checkpointText)))
	want := `## Primary Request and Intent
- ` + demoTask + `

## Key Technical Concepts
- (none)

## Files and Code
- Read through: logs/a.md

## Errors and Fixes
- (none)

## Pending Jobs
- 1 file left to read, up to logs/b.md

## Current Work
- Going through the files of logs in name order

## Next Step
- Go on with logs/b.md

## Critical Context
- logs/0.md: Finding: from before
- logs/a.md: Finding: valve 7 leaks`
	if got.Text != want || len(got.Calls) > 0 {
		t.Errorf("got\n%s\nwant\n%s", got.Text, want)
	}
	others := "Condense the above. Answer with these sections only:\n\n### Goal\n### Remarks\n\nUse no tools."
	got = ask(append(messages, user(others)))
	if !strings.HasPrefix(got.Text, "### Goal\n- "+demoTask+"\n\n### Remarks\n- Read through: logs/a.md\n- logs/0.md: Finding: from before\n") {
		t.Errorf("other headings:\n%s", got.Text)
	}
	if got := ask(messages[:2]); describe(got) != `glob{"pattern":"logs/*"}` {
		t.Errorf("a checkpoint is taken for an instruction: %s", describe(got))
	}
}
