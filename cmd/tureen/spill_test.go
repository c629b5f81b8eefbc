package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// most is what one result may show, in tokens.
const most = 12_500

var handle = regexp.MustCompile(`read_spill with id "(spill-\d+)"`)

// asker is a model that makes its calls one by one, then decides by the last
// message what to ask next: nil ends the turn. It holds every request against the cap.
type asker struct {
	first scripted.Reply
	next  func(last *llm.Message, messages []*llm.Message) *scripted.Reply

	mu     sync.Mutex
	faults []string
}

func (a *asker) Reply(req llm.Request) scripted.Reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range req.Messages {
		if n := llm.EstimateText(m.Text()); m.Role == llm.RoleTool && n > most {
			a.faults = append(a.faults, fmt.Sprintf("a request shows %d tokens of call %s", n, m.CallID))
		}
	}
	last := req.Messages[len(req.Messages)-1]
	if last.Role == llm.RoleUser {
		return a.first
	}
	if r := a.next(last, req.Messages); r != nil {
		return *r
	}
	return scripted.Reply{Text: "Done."}
}

// callOf is a reply with one call.
func callOf(name string, arguments object) *scripted.Reply {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return &scripted.Reply{Calls: []scripted.Call{{Name: name, Arguments: scripted.Arguments(b)}}}
}

// printing is a user with the printer and a model that a asks; the profile is p.toml.
func printing(t *testing.T, a *asker) *sandbox {
	t.Helper()
	u := user(t)
	server, err := scripted.Serve(t.Context(), scripted.Options{ContextWindow: 20_000_000, MaxOutputTokens: 8192, Agent: a, KeepBytes: -1, MaxBody: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Close()
		for _, fault := range a.faults {
			t.Error(fault)
		}
	})
	u.env = append(u.env, "OPENAI_BASE_URL="+server.BaseURL(), "OPENAI_API_KEY=any")
	write(t, u.path("work", "p.toml"), fmt.Sprintf("schema = 1\n[model]\nname = \"scripted\"\ncontext_window = 20000000\nmax_output_tokens = 4000\n[compaction]\nstrategy = \"none\"\n"+
		"[[plugins]]\nuse = %q\n[[plugins]]\nuse = \"shell\"\nconfig = {max_output_bytes = 400000}\n", faulty(t, u, printerName)))
	return u
}

// printRun runs the program to its end and returns the session and what its log
// keeps whole, by tool.
func (s *sandbox) printRun(t *testing.T) (string, map[string]session.Spilled) {
	t.Helper()
	var r host.Result
	o := s.ok(t, "run", "-q", "-P", "p.toml", "-o", "json", "print it")
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || r.Status != "completed" {
		t.Fatalf("%v in %s", err, o.stdout)
	}
	return r.Session, s.spilled(t, r.Session)
}

// spilled is what a session's log, which has to keep its rules, holds whole.
func (s *sandbox) spilled(t *testing.T, id string) map[string]session.Spilled {
	t.Helper()
	events, violations, err := s.events(id)
	if err != nil || len(violations) > 0 {
		t.Fatalf("%v, %v", err, violations)
	}
	kept := map[string]session.Spilled{}
	for _, e := range events {
		if p, err := session.Decode[session.Spilled](e); e.Kind == session.KindToolSpilled && err == nil {
			kept[p.Name] = p
		}
	}
	return kept
}

var onward = regexp.MustCompile(`Use offset=(\d+)(?: column=(\d+))? to continue\.\)$`)

// reader pages through a spilled result with read_spill to its end.
type reader struct {
	id    string
	text  strings.Builder
	pages int
}

func (r *reader) next(last *llm.Message, _ []*llm.Message) *scripted.Reply {
	page := last.Text()
	if found := handle.FindStringSubmatch(page); r.id == "" {
		if found == nil {
			return nil
		}
		r.id = found[1]
		return callOf("read_spill", object{"id": r.id})
	}
	r.pages++
	rows := strings.SplitAfter(page, "\n")
	footer := rows[len(rows)-1]
	m := onward.FindStringSubmatch(footer)
	for i, row := range rows[:len(rows)-1] {
		_, line, _ := strings.Cut(row, ": ")
		if i == len(rows)-2 && (m != nil && m[2] != "" || strings.Contains(footer, "no line break")) {
			line = strings.TrimSuffix(line, "\n")
		}
		r.text.WriteString(line)
	}
	if m == nil {
		return nil
	}
	ask := object{"id": r.id}
	ask["offset"], _ = strconv.Atoi(m[1])
	if m[2] != "" {
		ask["column"], _ = strconv.Atoi(m[2])
	}
	return callOf("read_spill", ask)
}

// A command that prints tens of megabytes to a shell that keeps little of it: the model
// sees a preview, and reads all that was kept, page by page.
func TestC14_C16_LongOutputIsReadPageByPage(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"thirty megabytes": `i=0; while [ $i -lt 30 ]; do head -c 1000000 /dev/zero | tr '\0' '0' | sed 's/00000000000000000000/0123456789abcdefghi\n/g'; i=$((i+1)); done`,
		"one line":         `head -c 300000 /dev/zero | tr '\0' 'x'`,
		"bytes":            `head -c 30000 /dev/zero; i=0; while [ $i -lt 3000 ]; do printf 'nul\000 \033[1mbold\033[0m \377\376 \355\240\200 e\314\201\r\n'; i=$((i+1)); done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &reader{}
			u := printing(t, &asker{first: *callOf("shell", object{"description": "print", "command": command}), next: r.next})
			_, kept := u.printRun(t)
			if text := kept["shell"].Text; r.pages < 2 || r.text.String() != text || len(text) < 30_000 {
				t.Errorf("%d pages put together are %d bytes, %d are kept", r.pages, r.text.Len(), len(text))
			}
		})
	}
}

// A result of any shape is kept whole, shown shortened,
// searched, and does not disturb those who look at the session.
func TestC14_C15_ResultsOfEveryShapeAreKeptWhole(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ search, found string }{
		"lines": {"LINE 50001 says", "50001: line 50001 says what a line says\n(End of result - 1 matches shown, total 100000 lines)"},
		"wide":  {"the needle", "the NEEDLE is here "},
		"odd":   {"bold", "1: \x1b[1mbold\x1b[0m nul bad\uFFFD 👩‍💻 e\u0301\r\n2: "},
		"most":  {"abcdef<&>", "1: 0123456789abcdef<&>\n2: "},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			found := ""
			a := &asker{first: *callOf("print", object{"what": what})}
			a.next = func(last *llm.Message, _ []*llm.Message) *scripted.Reply {
				if m := handle.FindStringSubmatch(last.Text()); m != nil {
					return callOf("read_spill", object{"id": m[1], "search": c.search})
				}
				found = last.Text()
				return nil
			}
			u := printing(t, a)
			id, kept := u.printRun(t)
			if got, want := kept["print"].Text, tool.Clean(printed(what)); got != want {
				t.Errorf("%d bytes are kept, want %d", len(got), len(want))
			}
			if !strings.Contains(found, c.found) {
				t.Errorf("the search found %.300q, want %q", found, c.found)
			}
			lookedAt(t, u, id, what)
		})
	}
}

// lookedAt looks at the session in every way that a person has.
func lookedAt(t *testing.T, u *sandbox, id, what string) {
	t.Helper()
	if o := u.ok(t, "session", "show", id); !regexp.MustCompile(`tool\.spilled +\S*.*print: \d+ bytes`).MatchString(o.stdout) {
		t.Errorf("session show:\n%s", o.stdout)
	}
	if o := u.ok(t, "session", "export", id, "--format", "md"); len(o.stdout) > 200_000 || !strings.Contains(o.stdout, "read_spill with id") {
		t.Errorf("the transcript has %d bytes", len(o.stdout))
	}
	u.ok(t, "session", "export", id, "-o", filepath.Join(u.dir, "log.jsonl"))
	lines, err := os.ReadFile(filepath.Join(u.dir, "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	whole := false
	for line := range strings.Lines(string(lines)) {
		var e struct {
			Kind session.Kind
			Data session.Spilled
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind == session.KindToolSpilled {
			whole = e.Data.Text == tool.Clean(printed(what))
		}
	}
	if !whole {
		t.Error("the exported log does not hold the whole text")
	}
	if o := u.ok(t, "session", "verify", id); !strings.Contains(o.stdout, " ok, ") {
		t.Errorf("session verify: %s", o.stdout)
	}
}

func TestT14_ErrorsAndManyAtOnceAndTheVeryLong(t *testing.T) {
	t.Parallel()
	batch := scripted.Reply{}
	for range 10 {
		batch.Calls = append(batch.Calls, callOf("print", object{"what": "twelve"}).Calls[0])
	}
	for name, first := range map[string]scripted.Reply{"failed": *callOf("print", object{"what": "failed"}), "longest": *callOf("print", object{"what": "longest"}), "batch": batch} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shown []string
			u := printing(t, &asker{first: first, next: func(_ *llm.Message, messages []*llm.Message) *scripted.Reply {
				for _, m := range messages {
					if m.Role == llm.RoleTool {
						shown = append(shown, m.Text())
					}
				}
				return nil
			}})
			_, kept := u.printRun(t)
			switch all := strings.Join(shown, ""); name {
			case "failed":
				if !strings.HasPrefix(all, "Error: line 1 says") || !handle.MatchString(all) || kept["print"].Text != printed("failed") {
					t.Errorf("shown is %.100q", all)
				}
			case "longest":
				if !strings.HasPrefix(all, "0123456789abcdef<&>\n") || !handle.MatchString(all) || kept["print"].Text != printed("longest") {
					t.Errorf("%d bytes are kept, shown is %.300q", len(kept["print"].Text), all)
				}
			case "batch":
				if n := llm.EstimateText(all); len(shown) != 10 || n > 50_000 || len(handle.FindAllString(all, -1)) != 7 {
					t.Errorf("%d results show %d tokens, %d of them shortened", len(shown), n, len(handle.FindAllString(all, -1)))
				}
			}
		})
	}
}

// A kill before, in and after the append that spills leaves all of it or nothing,
// and the process that goes on reads what there is.
func TestC15_R1_ASpillOutlivesAKill(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "during", "after"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			found := ""
			again := callOf("print", object{"what": "lines"})
			a := &asker{first: *again}
			a.next = func(last *llm.Message, messages []*llm.Message) *scripted.Reply {
				if strings.HasPrefix(last.Text(), "Error: this call was started, but the run broke off") {
					return again
				}
				if m := handle.FindStringSubmatch(last.Text()); m != nil {
					return callOf("read_spill", object{"id": m[1], "offset": 50_000, "limit": 1})
				}
				found = last.Text()
				return nil
			}
			u := printing(t, a)
			k := u.crash(t, "kind:tool.spilled:1:"+when, "run", "-q", "-P", "p.toml", "-o", "stream-json", "print it")
			if !k.byKill {
				t.Fatalf("the run was not killed: exit %d, %s", k.exit, &k.stderr)
			}
			id := regexp.MustCompile(`"session":"([0-9a-z]{26})"`).FindStringSubmatch(string(k.said()))
			if id == nil {
				t.Fatalf("no session in %s", k.said())
			}
			if kept := u.spilled(t, id[1]); (kept["print"].Text == printed("lines")) != (when == "after") {
				t.Errorf("the log keeps %d bytes", len(kept["print"].Text))
			}
			if when == "after" {
				a.mu.Lock()
				a.first = *callOf("read_spill", object{"id": preview(t, u, id[1]), "offset": 50_000, "limit": 1})
				a.mu.Unlock()
			}
			u.ok(t, "resume", id[1], "-q", "-P", "p.toml", "--continue")
			if want := "50000: line 50000 says what a line says\n(Showing lines 50000-50000 of 100000. Use offset=50001 to continue.)"; found != want {
				t.Errorf("found %.300q, want %q", found, want)
			}
			u.spilled(t, id[1])
		})
	}
}

// preview is the id that a session's log shows for its spilled result.
func preview(t *testing.T, u *sandbox, id string) string {
	t.Helper()
	events, _, err := u.events(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if p, err := session.Decode[session.ToolResult](e); e.Kind == session.KindToolResult && err == nil {
			if m := handle.FindStringSubmatch(p.Message.Text()); m != nil {
				return m[1]
			}
		}
	}
	t.Fatal("no result shows where the rest is")
	return ""
}
