package main_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

// What the plugins of the profile habits make of each bad habit, counted: the
// profile, the program and the plugins are those that ship.
func TestA1_G1_G3_P1_T9_T18_S3_S8_L16_HabitsAreStoppedOrHelped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		habit    string
		exit     int
		code     string // of the error
		turns    int
		requests int
		counts   map[session.Kind]int
		says     string
	}{
		{"announce", 11, "ANNOUNCED", 1, 3, map[session.Kind]int{session.KindInboxQueued: 3}, "Now let me read"},
		{"loop", 11, "LOOP", 1, 6, map[session.Kind]int{session.KindToolResult: 6}, ""},
		{"ask", 0, "", 1, 2, map[session.Kind]int{session.KindQuestionAsked: 1, session.KindQuestionAnswered: 1}, "nobody can be asked"},
		{"approve", 5, "APPROVAL_UNAVAILABLE", 1, 2, map[session.Kind]int{session.KindQuestionAsked: 1, session.KindToolStarted: 0}, "nobody can be asked"},
		{"slow", 0, "", 2, 4, map[session.Kind]int{session.KindToolStarted: 2}, "all is built"},
		{"forget", 0, "", 1, 4, map[session.Kind]int{session.KindToolResult: 2}, "Measured and reported."},
		{"spawn", 0, "", 0, 0, map[session.Kind]int{session.KindChildSpawned: 2, session.KindChildSettled: 2}, "Both subagents have answered"},
		{"remind", 0, "", 2, 3, map[session.Kind]int{session.KindTurnStarted: 2}, "reminded of the tea"},
	} {
		t.Run(c.habit, func(t *testing.T) {
			t.Parallel()
			u := user(t)
			write(t, u.path("work", "a.txt"), "hello\n")
			o := u.run(t, "run", "-q", "-P", "habits", "-o", "json", "Habit: "+c.habit)
			var r host.Result
			if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
				t.Fatalf("%v in %s\n%s", err, o.stdout, o.stderr)
			}
			code := ""
			if r.Error != nil {
				code = r.Error.Code
			}
			if o.exit != c.exit || code != c.code || !strings.Contains(r.Text, c.says) {
				t.Errorf("exit %d, code %q, says %q; want %d, %q, %q", o.exit, code, r.Text, c.exit, c.code, c.says)
			}
			if c.turns > 0 && (r.Turns != c.turns || r.ModelCalls.Main != c.requests) {
				t.Errorf("%d turns, %d requests; want %d, %d", r.Turns, r.ModelCalls.Main, c.turns, c.requests)
			}
			var kinds []session.Kind
			events, broken, err := u.events(r.Session)
			if err != nil || len(broken) > 0 {
				t.Fatalf("the log: %v, %v", err, broken)
			}
			for _, e := range events {
				kinds = append(kinds, e.Kind)
			}
			for kind, want := range c.counts {
				if got := len(slices.DeleteFunc(slices.Clone(kinds), func(k session.Kind) bool { return k != kind })); got != want {
					t.Errorf("%d events %s, want %d", got, kind, want)
				}
			}
		})
	}
}
