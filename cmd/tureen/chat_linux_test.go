package main_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// soup is a sentence; slowly says it often, a piece at a time.
const soup = "Once there was a soup that never went empty. "

func slowly(times int) scripted.Reply {
	return scripted.Reply{Text: strings.Repeat(soup, times) + "The end.", ChunkDelayMS: 60}
}

// sleeps is a call that takes a while.
func sleeps(n int, seconds string) scripted.Reply {
	return batch(n, "shell", object{"description": "wait", "command": "echo begun; sleep " + seconds})
}

// id finds the session of a chat in what it said at its beginning.
func (s *screen) id() string {
	s.t.Helper()
	s.sees("session 0")
	return regexp.MustCompile(`session (0[0-9a-z]{25})`).FindStringSubmatch(strings.ReplaceAll(s.all(), "\n", ""))[1]
}

func TestChat_AnswersStreamAndCallsShow(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000,
		scripted.Reply{Reasoning: "A story is wanted.", Text: strings.Repeat(soup, 12) + "The end.", ChunkDelayMS: 60},
		sleeps(1, "1"), scripted.Reply{Text: "All done."})
	s := u.chat(t, 80, 24, "-P", "notesoup", "tell", "a", "story")
	s.sees("› tell a story", "∴ A story is wanted.", "Once there was a soup")
	s.shows("answering")
	if strings.Contains(s.all(), "The end.") {
		t.Error("the answer came at once")
	}
	s.sees("The end.")
	s.ready()
	if n := strings.Count(strings.ReplaceAll(s.all(), "\n", " "), "Once there"); n != 12 {
		t.Errorf("the sentence stands there %d times, want 12", n)
	}
	if !strings.Contains(s.text(), "┃") || !strings.Contains(s.text(), "% of 32k") {
		t.Error("no meter with its mark")
	}
	s.says("wait a second")
	s.shows("1 tool")
	s.shows(" shell echo begun; sleep 1")
	s.sees("• shell echo begun; sleep 1 → 5 chars, 1.", "All done.", "· 2 steps, 1.")
	s.ready()
}

func TestChat_CommandsAnswerThePersonAlone(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, scripted.Reply{Text: "Hello."}, scripted.Reply{Text: "It is a path."})
	profile := butlerProfile(t, u.sandbox)
	s := u.chat(t, 100, 50, "-P", profile, "hello")
	s.sees("Hello.")
	s.ready()
	for _, c := range []struct{ line, want string }{
		{"/help", "/echo TEXT"},
		{"/context", "tool declarations"},
		{"/cost", "the profile has no [price] for this model"},
		{"/model", "talker, window 32000 (probed), profile"},
		{"/notes", "no notes"},
		{"/echo once more", "echo: once more"},
		{"/echo", "hint: give /echo a text"},
		{"/contxt", "there is no command /contxt"},
		{"/contxt", "hint: did you mean /context?"},
		{"/compact", "↻ reset #1 notesoup "},
		{"/export talk.md", "written to talk.md"},
		{"/export talk.md", "talk.md is there already"},
		{"/export talk.jsonl", "written to talk.jsonl"},
	} {
		s.says(c.line)
		s.sees(c.want)
		s.ready()
	}
	if md, err := os.ReadFile(u.path("work", "talk.md")); err != nil || !strings.Contains(string(md), "**Agent:**\n\nHello.") {
		t.Errorf("%v: %s", err, md)
	}
	lines, err := os.ReadFile(u.path("work", "talk.jsonl"))
	var first session.Event
	if err != nil || json.Unmarshal([]byte(strings.SplitN(string(lines), "\n", 2)[0]), &first) != nil || first.Kind != session.KindSessionCreated {
		t.Errorf("%v: %s", err, lines)
	}
	s.types("/ec")
	s.shows("/echo  says it again")
	s.types(tab, "tabbed", enter)
	s.sees("echo: tabbed")
	if n := u.server.Stats().Requests; n != 1 {
		t.Errorf("%d requests, want the one of the prompt", n)
	}
	s.says("/etc/hosts is what?")
	s.sees("It is a path.")
	if strings.Contains(u.asked(), "once more") {
		t.Error("the model heard of a command")
	}
	s.says("/quit")
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestChat_WordsReachTheRunningTurn(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, sleeps(1, "2"), scripted.Reply{Text: "As you wish."}, scripted.Reply{Text: "Later is now."})
	s := u.chat(t, 80, 24, "-P", "notesoup", "work")
	s.shows("1 tool")
	s.types("mind the gap", enter)
	s.shows("next step: mind the gap")
	s.types("and then rest", altEnter)
	s.shows("next turn: and then rest")
	s.shows("2 queued")
	s.sees("› mind the gap", "As you wish.", "› and then rest", "Later is now.")
	s.ready()
	s.hides("queued")
	bodies := u.server.Requests()
	if len(bodies) != 3 {
		t.Fatalf("%d requests", len(bodies))
	}
	steered, later := string(bodies[1]), string(bodies[2])
	if !strings.Contains(steered, "mind the gap") || strings.Contains(steered, "and then rest") || !strings.Contains(later, "and then rest") {
		t.Errorf("the second request: %s\nthe third: %s", steered, later)
	}
	s.types(up, up)
	s.shows("› mind the gap")
}

func TestChat_EscapeStopsTheStepAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, slowly(200), sleeps(2, "60"), scripted.Reply{Text: "Still here."})
	s := u.chat(t, 80, 24, "-P", "notesoup", "tell")
	s.sees("Once there was")
	s.types(escape)
	s.sees("· cancelled")
	s.ready()
	s.says("wait")
	s.shows("1 tool")
	s.types(ctrlC)
	s.shows("Ctrl-C again leaves")
	s.until("the second cancel", func() bool { return strings.Count(s.all(), "· cancelled") == 2 })
	s.says("there?")
	s.sees("Still here.")
	s.ready()
	s.types("half a thought")
	s.shows("half a thought")
	s.types(escape)
	s.hides("half a thought")
	s.types(ctrlC)
	s.shows("Ctrl-C again leaves")
	s.types(ctrlC)
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestChat_QuestionsAreAnsweredInPlace(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000,
		batch(1, "shell", effect("one")), batch(2, "shell", effect("two")), batch(3, "shell", effect("three")),
		batch(4, "enquire", object{"text": "Which soup?", "options": []string{"Leek", "Lentil"}}),
		batch(5, "enquire", object{"text": "Which herbs?", "options": []string{"Dill", "Sage", "Mint"}, "multiple": true}),
		batch(6, "enquire", object{"text": "How many guests?"}),
		batch(7, "enquire", object{"text": "Anything else?"}),
		scripted.Reply{Text: "Served."})
	s := u.chat(t, 80, 30, "-P", butlerProfile(t, u.sandbox))
	s.ready()
	s.says("cook")
	s.shows("approval · butler")
	s.shows("1 Allow")
	s.types("1")
	s.sees("? May shell run this? → Allow")
	s.shows("echo two")
	s.types(enter, down, down, enter) // there is no default
	s.sees("? May shell run this? → Deny", "✗ DENIED")
	s.shows("echo three")
	s.types(escape)
	s.sees("? May shell run this? → declined")
	s.shows("Which soup?")
	s.types("no soup at all", enter)
	s.sees("→ no soup at all")
	s.shows("[ ] 3 Mint")
	s.types("1", "3")
	s.shows("[x] 3 Mint")
	s.types(enter)
	s.sees("→ Dill; Mint")
	s.shows("How many guests?")
	s.types("seven", enter)
	s.sees("→ seven")
	s.shows("Anything else?")
	s.types(escape)
	s.sees("Anything else? → declined", "Served.")
	done, _ := os.ReadFile(u.path("work", "effects.txt"))
	if string(done) != "one\n" {
		t.Errorf("what was not allowed ran: %q", done)
	}
	for _, want := range []string{"answered:  no soup at all", "answered: Dill+Mint", "answered:  seven", "declined: "} {
		if !strings.Contains(u.asked(), want) {
			t.Errorf("the model did not hear %q", want)
		}
	}
}

// The shipped profile: its policy asks, its plugins' commands answer.
func TestChat_ShippedPluginsAskAndAnswer(t *testing.T) {
	t.Parallel()
	u := talks(t, 64000, batch(1, "shell", object{"description": "clean", "command": "mkdir build; rm -rf build; echo gone > effects.txt"}), scripted.Reply{Text: "Clean."})
	s := u.chat(t, 100, 40, "-P", "notesoup", "clean up")
	s.shows("approval · policy")
	s.shows("rm -rf build")
	if left, _ := os.ReadFile(u.path("work", "effects.txt")); left != nil {
		t.Fatal("it ran before it was allowed")
	}
	s.types("1")
	s.sees("• shell mkdir build; rm -rf build", "Clean.")
	s.ready()
	for _, command := range []string{"/todo", "/agents", "/schedule", "/plan show", "/skills"} {
		s.says(command)
		s.sees("› " + command + "\n\n  ")
		s.ready()
	}
	if n := u.server.Stats().Requests; n != 2 {
		t.Errorf("%d requests, want two", n)
	}
}

// Keys that were meant for the input answer no question.
func TestChat_TypingApprovesNothing(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, sleeps(1, "0"), scripted.Reply{Text: "Done."})
	s := u.chat(t, 80, 24, "-P", butlerProfile(t, u.sandbox))
	s.ready()
	s.types("go", enter, "1 moment")
	s.shows("Tab: answer it")
	s.shows("› 1 moment")
	s.types("1")
	s.shows("› 1 moment1")
	if strings.Contains(s.all(), "→ Allow") {
		t.Error("a key of the input approved a call")
	}
	s.types(tab)
	s.shows("Enter: choose")
	s.types(down, enter)
	s.sees("→ Allow", "Done.")
	s.shows("› 1 moment1")
}

// A session that waits for something says for what, and takes input all the same.
func TestChat_WaitsAreShown(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, scripted.Reply{Text: "It simmers."}, scripted.Reply{Text: "Soon."}, scripted.Reply{Text: "Later, then."})
	pot := u.path("work", "pot")
	write(t, pot, "")
	s := u.chat(t, 80, 24, "-P", butlerProfile(t, u.sandbox), "cook")
	s.sees("It simmers.")
	s.shows(" waiting for the pot")
	s.says("when?")
	s.sees("Soon.")
	s.shows(" waiting for the pot")
	s.types(escape)
	s.hides("waiting")
	s.ready()
	s.says("well?")
	s.sees("Later, then.")
	s.shows(" waiting for the pot")
	if err := os.Remove(pot); err != nil {
		t.Fatal(err)
	}
	s.hides("waiting")
	s.ready()
}

func TestChat_PastesAreNotSent(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, scripted.Reply{Text: "Read."}, scripted.Reply{Text: "Read too."})
	s := u.chat(t, 80, 24, "-P", "notesoup")
	s.ready()
	s.types("\x1b[200~one 汤\ntwo é\r\nthree\x1b[201~")
	s.shows("three")
	s.types(ctrlJ, "four", "\x1b[D\x1b[D", "-")
	s.shows("fo-ur")
	s.types("\x05", "\x1b[13;2u", "漢é") // End, then Shift-Enter as newer terminals send it
	s.shows("漢é")
	if n := u.server.Stats().Requests; n != 0 {
		t.Fatalf("%d requests", n)
	}
	s.types(enter)
	s.sees("Read.")
	if !strings.Contains(u.asked(), `one 汤\ntwo é\nthree\nfo-ur\n漢é`) {
		t.Errorf("the model read %s", u.asked())
	}
	s.ready()
	s.types("see \x1b[200~" + strings.Repeat("a line of a log\n", 300) + "\x1b[201~ please")
	s.shows("see [pasted 301 lines, 4800 bytes] please")
	s.types(enter)
	s.sees("Read too.")
	if n := strings.Count(u.asked(), "a line of a log"); n != 300 {
		t.Errorf("the model read %d lines", n)
	}
}

func TestChat_FailuresAreToldAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000,
		scripted.Reply{Error: &scripted.Failure{Status: 500, Message: "out of leeks"}}, scripted.Reply{Text: "There are leeks again."},
		scripted.Reply{Error: &scripted.Failure{Status: 401, Message: "who are you?"}}, scripted.Reply{Text: "I know you."})
	s := u.chat(t, 80, 24, "-P", "notesoup", "leeks?")
	s.sees("! retry 1 in", "There are leeks again.")
	s.says("again")
	s.sees("✗ ", "who are you?", "hint: ")
	s.ready()
	s.says("and now?")
	s.sees("I know you.")
}

// What others say can only be read: it steers nothing and turns nothing around.
func TestChat_ForeignTextIsPlain(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;owned\a\x1b[2J\u009b31m\u202eb\r\nerror: fake\x7f" + "\u2066c"
	u := talks(t, 32000,
		scripted.Reply{Reasoning: evil, Text: evil + strings.Repeat("x", 500)},
		batch(1, "enquire", object{"text": evil, "options": []string{evil, "fine"}}),
		scripted.Reply{Text: "مرحبا بالعالم 汤 🍲 done"})
	s := u.chat(t, 60, 24, "-P", butlerProfile(t, u.sandbox), "speak")
	s.sees("a]0;owned[2J31mb", strings.Repeat("x", 59))
	s.ready()
	s.says("ask")
	s.shows("1 a]0;owned[2J31mb error: fakec")
	s.types("2")
	s.sees("→ fine", "done")
	s.ready()
	if w := s.written(); strings.ContainsAny(w, "\u202e\u2066\u009b") || strings.Contains(w, "\x1b]0;") || strings.Contains(w, "\x1b[2J") {
		t.Errorf("an escape went through: %q", w)
	}
}
