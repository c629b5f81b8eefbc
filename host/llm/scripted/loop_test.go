package scripted_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

const (
	demoDir  = "../../../testdata/demo"
	demoTask = `Read every file in logs in order and report each line that starts with "Finding:".`
)

// world is what the tools of the tests work on: the demonstration files, or files
// of a test's own, and a notes home in memory.
type world struct {
	dir   string
	page  int // lines of a page of read
	notes map[string]string
	reads []string // names, one for each page
	calls int
	armed bool
	agent func(llm.Request) scripted.Reply
}

func newWorld(dir string) *world {
	return &world{dir: dir, page: 2000, notes: map[string]string{}, agent: scripted.Rules{}.Reply}
}

// call runs a tool.
func (w *world) call(t *testing.T, c scripted.Call) string {
	t.Helper()
	var args struct {
		FilePath string `json:"file_path"`
		Offset   int
		Pattern  string
		Path     string
		Text     string
		Mode     string
		Cursor   string
		Note     string
	}
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
		t.Fatalf("arguments of %s: %v", c.Name, err)
	}
	switch c.Name {
	case "glob":
		paths, err := filepath.Glob(filepath.Join(w.dir, args.Pattern))
		if err != nil {
			t.Fatal(err)
		}
		sort.Sort(sort.Reverse(sort.StringSlice(paths))) // by time, not by name
		for i := range paths {
			paths[i], _ = filepath.Rel(w.dir, paths[i])
		}
		return strings.Join(paths, "\n")
	case "read":
		return w.read(args.FilePath, max(1, args.Offset))
	case "notes_write":
		return w.write(args.Path, args.Mode, args.Text)
	case "notes_read":
		return w.readNote(args.Path, args.Cursor)
	case "empty_brain":
		w.armed = true
		return "ok empty_brain armed=yes"
	}
	t.Fatalf("a call of %s, which is not offered", c.Name)
	return ""
}

func (w *world) read(path string, from int) string {
	data, err := os.ReadFile(filepath.Join(w.dir, path))
	if err != nil {
		return fmt.Sprintf("Error: cannot read %q: not found", path)
	}
	w.reads = append(w.reads, filepath.Base(path))
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	to := min(len(lines), from+w.page-1)
	var b strings.Builder
	fmt.Fprintf(&b, "<path>%s</path>\n<type>file</type>\n<content>\n", filepath.Join("/srv/dir", path))
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%d: %s\n", i, lines[i-1])
	}
	if to < len(lines) {
		fmt.Fprintf(&b, "(Showing lines %d-%d of %d. Use offset=%d to continue.)\n", from, to, len(lines), to+1)
	} else {
		fmt.Fprintf(&b, "(End of file - total %d lines)\n", len(lines))
	}
	return b.String() + "</content>"
}

func (w *world) write(path, mode, text string) string {
	old, exists := w.notes[path]
	switch {
	case mode == "create" && exists:
		return "Error: E_EXISTS " + path + " exists; use append, or replace with if_rev"
	case mode == "append" && !exists:
		return "Error: E_NOT_FOUND " + path
	}
	w.notes[path] = old + text
	return fmt.Sprintf("ok notes_write %s mode=%s rev=0a1b2c3d cp=%d", path, mode, utf8.RuneCountInString(w.notes[path]))
}

// readNote gives pages of eight lines, so that the cursor is needed.
func (w *world) readNote(path, cursor string) string {
	note, ok := w.notes[path]
	if !ok {
		return "Error: E_NOT_FOUND there is no note " + path
	}
	lines, from := strings.SplitAfter(note, "\n"), 0
	_, _ = fmt.Sscanf(cursor, "c%d", &from)
	to, next := min(len(lines), from+8), "-"
	if to < len(lines) {
		next = fmt.Sprintf("c%d", to)
	}
	return fmt.Sprintf("ok notes_read %s rev=0a1b2c3d lines=%d next=%s\n%s", path, len(lines), next, strings.Join(lines[from:to], ""))
}

// facts are the findings of the files, as the report has them.
func (w *world) facts(t *testing.T) []string {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(w.dir, "logs", "*"))
	var out []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "Finding:") {
				out = append(out, "- logs/"+filepath.Base(path)+": "+strings.TrimSpace(line))
			}
		}
	}
	return out
}

// loop asks the agent until it answers without a call. before sees the messages
// ahead of each request and returns those to send.
func (w *world) loop(t *testing.T, messages []*llm.Message, offered []llm.Tool, before func([]*llm.Message) []*llm.Message) (answer string, steps int) {
	t.Helper()
	for steps = 1; steps <= 200; steps++ {
		messages = before(messages)
		req := llm.Request{Model: "scripted", Messages: messages, Tools: offered}
		if err := llm.Validate(messages); err != nil {
			t.Fatalf("step %d: the test's own request: %v", steps, err)
		}
		reply := w.agent(req)
		if len(reply.Calls) == 0 {
			return reply.Text, steps
		}
		m := llm.Text(llm.RoleAssistant, reply.Text)
		var results []*llm.Message
		for _, c := range reply.Calls {
			w.calls++
			id := cmp.Or(c.ID, fmt.Sprintf("call_%d", w.calls))
			m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: c.Name, Arguments: string(c.Arguments)}})
			results = append(results, result(id, w.call(t, c)))
		}
		messages = append(append(messages, m), results...)
	}
	t.Fatalf("no end after %d steps; read %v", steps, w.reads)
	return "", 0
}

// once are the names that were read more than once.
func (w *world) again() []string {
	var again []string
	for i, name := range w.reads {
		if slices.Contains(w.reads[:i], name) {
			again = append(again, name)
		}
	}
	return again
}

func size(messages []*llm.Message) int {
	n := 0
	for _, m := range messages {
		n += llm.Estimate(m)
	}
	return n
}

func asIs(messages []*llm.Message) []*llm.Message { return messages }

// wantAll checks that the report has every finding once and in file order.
func wantAll(t *testing.T, w *world, report string) {
	t.Helper()
	at := 0
	for _, fact := range w.facts(t) {
		if strings.Count(report, fact) != 1 {
			t.Errorf("%d times in the report: %s", strings.Count(report, fact), fact)
		}
		if i := strings.Index(report, fact); i < at {
			t.Errorf("out of order: %s", fact)
		} else {
			at = i
		}
	}
	if t.Failed() {
		t.Log(report)
	}
}

func TestRulesFinishWithEverythingInSight(t *testing.T) {
	t.Parallel()
	w := newWorld(demoDir)
	report, steps := w.loop(t, []*llm.Message{system("You are an agent."), user(demoTask)}, tools("read", "glob"), asIs)
	wantAll(t, w, report)
	if !strings.HasPrefix(report, "Report on logs\n\n30 lines starting with \"Finding:\" in 30 files.") || strings.Contains(report, "No such line") {
		t.Errorf("report:\n%s", report)
	}
	if steps != 17 || len(w.again()) > 0 || !slices.IsSorted(w.reads) {
		t.Errorf("%d steps, read again %v, order %v", steps, w.again(), w.reads)
	}
}

// TestM8_M23_RulesPassTheStrictServer runs the same over HTTP: what the agent
// says and how it is called is good enough for the server itself.
func TestM8_M23_RulesPassTheStrictServer(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{ContextWindow: 100_000})
	w := newWorld(demoDir)
	prompt, cached, last := 0, 0, 0
	w.agent = func(req llm.Request) scripted.Reply {
		c := complete(t, server, wire(t, req, nil))
		prompt, cached, last = prompt+c.Usage.PromptTokens, cached+c.Usage.Details.Cached, c.Usage.PromptTokens
		reply := scripted.Reply{Text: *c.Choices[0].Message.Content}
		for _, call := range c.Choices[0].Message.ToolCalls {
			reply.Calls = append(reply.Calls, scripted.Call{ID: call.ID, Name: call.Function.Name, Arguments: scripted.Arguments(call.Function.Arguments)})
		}
		return reply
	}
	report, steps := w.loop(t, []*llm.Message{system("You are an agent."), user(demoTask)}, tools("read", "glob"), asIs)
	wantAll(t, w, report)
	if fresh := prompt - cached; fresh < last || fresh > last+32*steps {
		t.Errorf("%d tokens were not cached; an append-only conversation of %d in %d steps has about as many", fresh, last, steps)
	}
	if server.Stats().Refused > 0 {
		t.Errorf("refused %d", server.Stats().Refused)
	}
}

func TestRulesFollowThePagesOfAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(demoDir)
	w.page = 50
	report, _ := w.loop(t, []*llm.Message{user(demoTask)}, tools("read", "glob"), asIs)
	wantAll(t, w, report)
	if len(w.reads) != 90 {
		t.Errorf("%d pages were read, want 3 of each file", len(w.reads))
	}
}

// TestRulesFinishWhenOldMessagesAreDropped keeps the last messages only, however
// few, and with or without the owner's request.
func TestRulesFinishWhenOldMessagesAreDropped(t *testing.T) {
	t.Parallel()
	for _, keep := range []int{3, 6, 14} {
		for _, withTask := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d messages, task %v", keep, withTask), func(t *testing.T) {
				t.Parallel()
				w := newWorld(demoDir)
				var last []*llm.Message
				report, _ := w.loop(t, []*llm.Message{system("You are an agent."), user(demoTask)}, tools("read", "glob"), func(messages []*llm.Message) []*llm.Message {
					head := 1
					if withTask {
						head = 2
					}
					from := max(head, len(messages)-keep)
					for from < len(messages) && messages[from].Role == llm.RoleTool {
						from++
					}
					last = messages[:head:head]
					if !withTask && messages[from].Role != llm.RoleUser {
						last = append(last, user("(earlier messages were dropped)"))
					}
					last = append(last, messages[from:]...)
					return last
				})
				if len(w.again()) > 0 || len(w.reads) != 30 {
					t.Errorf("read %d files, again %v", len(w.reads), w.again())
				}
				text := ""
				for _, m := range last {
					text += m.Text()
				}
				for _, fact := range w.facts(t) {
					_, words, _ := strings.Cut(fact, ": ")
					if seen := strings.Contains(text, words); seen != strings.Contains(report, fact) {
						t.Errorf("in sight %v, in the report %v: %s", seen, !seen, fact)
					}
				}
				if !strings.Contains(report, "No such line is in sight of: logs/001.md") {
					t.Errorf("the report hides what it lost:\n%s", report)
				}
			})
		}
	}
}

// boot is a system prompt of a window with notes, with the heads of the notes.
func (w *world) boot(window int) *llm.Message {
	var b strings.Builder
	fmt.Fprintf(&b, "You are an agent.\n\n<notebook window=\"%d\">\nSave early with notes_write; empty_brain turns to a fresh window.\n", window)
	for path, text := range w.notes {
		head := []rune(text)
		fmt.Fprintf(&b, "- %s rev=0a1b2c3d cp=%d\n<note address=%q>\n%s\n</note>\n", path, len(head), path, string(head[:min(len(head), 1024)]))
	}
	return system(b.String() + "</notebook>")
}

const closeOutText = "Little room is left. Write down what the next window needs, then call empty_brain."

// TestRulesFinishThroughResets gives the agent a fresh window whenever it is full:
// by its own empty_brain after a close-out message, or without warning.
func TestRulesFinishThroughResets(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		warned  bool
		carried bool // the owner's request stands in the checkpoint
		heads   bool // the boot shows the heads of notes
	}{
		{"close-out, task carried", true, true, true},
		{"close-out, nothing carried", true, false, true},
		{"no warning, nothing carried", false, false, true},
		{"no warning, no heads", false, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(demoDir)
			window, warned := 1, false
			fresh := func() []*llm.Message {
				window, warned, w.armed = window+1, false, false
				checkpoint := "A fresh notebook lies before you. Continue from your notes."
				if row.carried {
					checkpoint += "\n\nThe owner's request, word for word:\n<owner seq=\"4\">\n" + demoTask + "\n</owner>"
				}
				boot := w.boot(window)
				if !row.heads {
					boot = system("Save early with notes_write. Notes of this session: reading-log.md (2 KiB).")
				}
				return []*llm.Message{boot, user(checkpoint)}
			}
			report, _ := w.loop(t, []*llm.Message{w.boot(1), user(demoTask)},
				tools("read", "glob", "notes_write", "notes_read", "empty_brain"), func(messages []*llm.Message) []*llm.Message {
					switch n := size(messages); {
					case w.armed, n > 27_000:
						return fresh()
					case row.warned && !warned && n > 20_000:
						warned = true
						return append(messages, user(closeOutText))
					}
					return messages
				})
			wantAll(t, w, report)
			if window < 3 {
				t.Errorf("only %d windows", window)
			}
			if row.warned && len(w.again()) > 0 {
				t.Errorf("read again although everything was saved: %v", w.again())
			}
			note := w.notes["reading-log.md"]
			if !strings.Contains(note, "Task: "+demoTask) || strings.Count(note, "logs/001.md: Finding:") != 1 {
				t.Errorf("note:\n%s", note)
			}
		})
	}
}

// TestRulesSaveWhatASmallWindowReads has a line that a step of two reads jumps over
// without a warning: a window of 32k tokens of which the output takes 8192 and what
// stands in every request more than 4000.
func TestRulesSaveWhatASmallWindowReads(t *testing.T) {
	t.Parallel()
	w := newWorld(demoDir)
	resets := 0
	report, steps := w.loop(t, []*llm.Message{w.boot(1), user(demoTask)},
		tools("read", "glob", "notes_write", "notes_read", "empty_brain"), func(messages []*llm.Message) []*llm.Message {
			if size(messages) < 20_600-4_300 {
				return messages
			}
			resets++
			return []*llm.Message{w.boot(resets + 1), user("A fresh notebook; the request: " + demoTask)}
		})
	wantAll(t, w, report)
	if resets < 2 || resets > 15 {
		t.Errorf("%d resets in %d steps for 30 files, of which %d were read again", resets, steps, len(w.again()))
	}
}

// TestRulesFinishWithSummaries replaces all but a tail by a checkpoint that the
// agent itself is asked for.
func TestRulesFinishWithSummaries(t *testing.T) {
	t.Parallel()
	for _, tail := range []int{0, 5} {
		t.Run(fmt.Sprintf("tail %d", tail), func(t *testing.T) {
			t.Parallel()
			w := newWorld(demoDir)
			summaries := 0
			report, _ := w.loop(t, []*llm.Message{system("You are an agent."), user(demoTask)}, tools("read", "glob"), func(messages []*llm.Message) []*llm.Message {
				if size(messages) < 20_000 {
					return messages
				}
				cut := len(messages) - tail
				for cut < len(messages) && messages[cut].Role == llm.RoleTool {
					cut++
				}
				summaries++
				reply := scripted.Rules{}.Reply(llm.Request{Messages: append(messages[:cut:cut], user(checkpointText)), Tools: tools("read", "glob")})
				if len(reply.Calls) > 0 {
					t.Fatalf("a compaction call is answered with %+v", reply.Calls)
				}
				checkpoint := user("What follows was condensed. Carry on.\n\n<compacted-summary>\n" + reply.Text + "\n</compacted-summary>")
				return append([]*llm.Message{messages[0], checkpoint}, messages[cut:]...)
			})
			wantAll(t, w, report)
			if summaries < 2 || len(w.again()) > 0 {
				t.Errorf("%d summaries, read again %v", summaries, w.again())
			}
		})
	}
}

// TestRulesGiveUpWhereNothingIsLeft is a strategy that carries the request and
// drops all else: the numbers of the windows bound it.
func TestRulesGiveUpWhereNothingIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(demoDir)
	window := 1
	answer, _ := w.loop(t, []*llm.Message{system("You are an agent."), user(demoTask)}, tools("read", "glob"), func(messages []*llm.Message) []*llm.Message {
		if size(messages) < 20_000 {
			return messages
		}
		window++
		return []*llm.Message{messages[0], user(fmt.Sprintf("This is window #%d. The request: %s", window, demoTask))}
	})
	if window != 4 || !strings.Contains(answer, "I stop here: this is window 4") {
		t.Errorf("window %d: %s", window, answer)
	}
}

// TestRulesGetThroughAFileLargerThanAWindow: the page to go on with is progress too.
func TestRulesGetThroughAFileLargerThanAWindow(t *testing.T) {
	t.Parallel()
	for _, notes := range []bool{true, false} {
		w := newWorld(t.TempDir())
		w.page = 300
		if err := os.Mkdir(filepath.Join(w.dir, "logs"), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "Finding: at the top\n" + strings.Repeat("Nothing of note.\n", 2000) + "Finding: at the end\n"
		for _, name := range []string{"a.md", "b.md"} {
			if err := os.WriteFile(filepath.Join(w.dir, "logs", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		offered, windows := tools("read", "glob"), 1
		if notes {
			offered = tools("read", "glob", "notes_write", "notes_read")
		}
		report, _ := w.loop(t, []*llm.Message{w.boot(1), user(demoTask)}, offered, func(messages []*llm.Message) []*llm.Message {
			if size(messages) < 6_000 {
				return messages
			}
			windows++
			next := user("A fresh window; go on from your notes.")
			if !notes {
				reply := scripted.Rules{}.Reply(llm.Request{Messages: append(messages[:len(messages):len(messages)], user(checkpointText)), Tools: offered})
				next = user("<compacted-summary>\n" + reply.Text + "\n</compacted-summary>")
			}
			return []*llm.Message{w.boot(windows), next}
		})
		wantAll(t, w, report)
		if windows < 4 || !strings.HasPrefix(report, "Report on logs\n\n4 lines") {
			t.Errorf("notes %v: %d windows\n%s", notes, windows, report)
		}
	}
}

// TestRulesCopeWithOddNames: whatever a file is called, progress and findings
// survive a reset, and nothing is written or read for ever.
func TestRulesCopeWithOddNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t.TempDir())
	dir := filepath.Join(w.dir, "2 field logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	names := []string{"2 (old).md", "README", "a b.md", "größe.md", "x:y, z.txt", "50%.md", "a.md.bak"}
	for i, name := range names {
		text := fmt.Sprintf("# %s\n%sFinding: number %d of all\n", name, strings.Repeat("Nothing of note.\n", 300), i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	request := "Some facts first.\n- Finding: said by the owner\n\nRead every file in \"2 field logs\" in order and report each line that starts with \"Finding:\"."
	windows := 1
	report, steps := w.loop(t, []*llm.Message{w.boot(1), user(request)}, tools("read", "glob", "notes_write", "notes_read"), func(messages []*llm.Message) []*llm.Message {
		if size(messages) < 7_000 {
			return messages
		}
		windows++
		return []*llm.Message{w.boot(windows), user("A fresh window; go on from your notes.")}
	})
	for i := range names {
		if fact := fmt.Sprintf("Finding: number %d of all", i); strings.Count(report, fact) != 1 {
			t.Errorf("%d times in the report: %s", strings.Count(report, fact), fact)
		}
	}
	if !strings.Contains(report, "- Finding: said by the owner") || windows < 3 || steps > 60 {
		t.Errorf("%d windows, %d steps, report\n%s\nnotes\n%s", windows, steps, report, w.notes["reading-log.md"])
	}
}
