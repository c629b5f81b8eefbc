package notesoup_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup"
)

// reset resets with carry and returns the checkpoint without its paragraph and the
// index.
func (d *desk) reset(trigger session.Trigger, turnOpen bool) string {
	d.t.Helper()
	_, rest := d.indexed(trigger, turnOpen)
	return rest
}

// indexed is reset, with what stands between the tags of the index apart.
func (d *desk) indexed(trigger session.Trigger, turnOpen bool) (index, rest string) {
	d.t.Helper()
	s := d.strategy(notesoup.Config{Carry: notesoup.CarryRequest})
	d.Open(s)
	in := d.Input(trigger)
	in.TurnOpen = turnOpen
	d.Compact(s, in)
	text, ok := strings.CutPrefix(d.Messages()[1].Text(), notesoup.Handoff(trigger, in.Seed))
	if !ok {
		d.t.Fatalf("no paragraph at the start of %q", d.Messages()[1].Text())
	}
	before, text, _ := strings.Cut(text, "Put together from the log")
	_, text, _ = strings.Cut(text, "\n<log>\n")
	index, rest, _ = strings.Cut(text, "</log>")
	return index, strings.TrimSpace(before + rest)
}

func TestN18_CarryRepeatsTheOwnersWordsWithTheirSeq(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.work("an older request", 1)
	d.EndTurn(session.ReasonCompleted)
	d.Turn()
	first := d.User(session.SourceOwner, "Fix  the parser,\n  word for word.")
	d.User(session.SourceHost, "a notice of the host")
	d.Exchange("a", "read", "{}", "text")
	steer := d.User(session.SourceSteer, "Mind the tests.")
	d.Exchange("b", "read", "{}", "text")
	want := fmt.Sprintf("<owner seq=\"%d\">\nFix  the parser,\n  word for word.\n</owner>\n<owner seq=\"%d\">\nMind the tests.\n</owner>", first, steer)
	for window := range 3 { // it survives several resets of one turn
		got := d.reset(session.TriggerPressure, true)
		if !strings.HasSuffix(got, "\n"+want) || strings.Contains(got, "older") || strings.Contains(got, "notice") {
			t.Errorf("reset %d: got %q\nwant …%q", window, got, want)
		}
		d.Exchange(fmt.Sprint("w", window), "read", "{}", "text")
	}
}

func TestN18_CarryDoesNotReviveAFinishedRequest(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.work("the finished request", 2)
	d.EndTurn(session.ReasonCompleted)
	d.Turn() // its first message is claimed, and follows the checkpoint
	if got := d.reset(session.TriggerPressure, true); got != "" {
		t.Errorf("carried %q", got)
	}
	idle := sit(t)
	idle.work("the finished request", 2)
	idle.EndTurn(session.ReasonCompleted)
	if got := idle.reset(session.TriggerManual, false); !strings.Contains(got, "the finished request") || !strings.Contains(got, "its turn is over (completed)") {
		t.Errorf("carried %q", got)
	}
}

// After a crash the next turn may only say "go on": what it goes on with must not
// leave with the conversation.
func TestN18_ARequestThatBrokeOffIsCarriedIntoTheNextTurn(t *testing.T) {
	t.Parallel()
	for _, reason := range []session.Reason{session.ReasonCancelled, session.ReasonLimit, session.ReasonError} {
		d := sit(t)
		d.work("an older request", 1)
		d.EndTurn(session.ReasonCompleted)
		d.Turn()
		d.work("the cut request", 2)
		d.EndTurn(reason)
		d.Turn() // its first message is claimed, and follows the checkpoint
		got := d.reset(session.TriggerRequested, true)
		if !strings.Contains(got, "\nthe cut request\n") || strings.Contains(got, "older") || !strings.Contains(got, "its turn is over ("+string(reason)+")") {
			t.Errorf("carried %q", got)
		}
	}
}

func TestN15_CarrySaysThatTheTurnHadEnded(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.work("the request", 1)
	d.Assistant("All done.")
	if got := d.reset(session.TriggerStopping, true); !strings.Contains(got, "\nthe request\n") || !strings.HasSuffix(got, "answer once more in short and stop.") {
		t.Errorf("carried %q", got)
	}
}

func TestN18_ATurnOfAPluginWorksForTheOwnersLastRequest(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.work("the request", 1)
	d.EndTurn(session.ReasonCompleted)
	d.Turn()
	d.User(session.SourcePlugin, "next round")
	d.Exchange("a", "read", "{}", "text")
	if got := d.reset(session.TriggerPressure, true); !strings.Contains(got, "\nthe request\n") || strings.Contains(got, "next round") {
		t.Errorf("carried %q", got)
	}
}

func TestN18_CarryIsBounded(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.Turn()
	d.User(session.SourceOwner, "BEGIN"+strings.Repeat("é", 9000)+"END")
	for i := range 30 {
		d.User(session.SourceSteer, fmt.Sprintf("steer %02d %s", i, strings.Repeat("s", 190)))
	}
	d.User(session.SourceSteer, "the newest")
	d.Exchange("a", "read", "{}", "text")
	got := d.reset(session.TriggerPressure, true)
	if n := utf8.RuneCountInString(got); n > notesoup.MaxCarry+500 {
		t.Errorf("%d characters are carried", n)
	}
	for _, part := range []string{"BEGIN", "END", "characters left out; history_read with seq=", "\nthe newest\n</owner>"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is missing", part)
		}
	}
	if !strings.HasSuffix(got, "the newest\n</owner>") {
		t.Error("the newest is not last")
	}
}

// Where the owner said nothing for thousands of turns a reset reads no more than where
// it was hundreds, and the task is still repeated.
func TestN18_ALongSilenceCostsNothing(t *testing.T) {
	t.Parallel()
	read := map[int]int{}
	for _, turns := range []int{1000, 4000} {
		d := sit(t)
		d.Turn()
		d.User(session.SourceOwner, "Watch the kiln.")
		d.EndTurn(session.ReasonCompleted)
		for range turns {
			d.Turn()
			d.User(session.SourcePlugin, "next round")
			d.EndTurn(session.ReasonCompleted)
		}
		d.Turn()
		d.User(session.SourcePlugin, "next round")
		d.Exchange("x", "read", "{}", "text")
		s := d.strategy(notesoup.Config{Carry: notesoup.CarryRequest})
		d.Open(s)
		in := d.Input(session.TriggerPressure)
		log := &counted{Access: in.Access}
		in.TurnOpen, in.Access = true, log
		d.Compact(s, in)
		if text := d.Messages()[1].Text(); !strings.Contains(text, "Watch the kiln.") {
			t.Errorf("%d turns: the task is not repeated: %.300q", turns, text)
		}
		read[turns] = int(log.n.Load())
	}
	if read[4000] > read[1000]+10 {
		t.Errorf("events read: %v", read)
	}
}

// TestC125_N18_ASubagentsOwnerIsNoPerson: what the agent above wrote must not pass for a
// person's word.
func TestC125_N18_ASubagentsOwnerIsNoPerson(t *testing.T) {
	t.Parallel()
	said := []notesoup.Said{{Seq: 3, Text: "Remove the branch."}}
	for child, want := range map[bool]bool{true: true, false: false} {
		p := notesoup.Reset(notesoup.ResetInput{Carry: said, Subagent: child})
		if got := strings.Contains(p.Edits[0].Replace.Messages[0].Text(), "and no person"); got != want {
			t.Errorf("subagent %v: %s", child, p.Edits[0].Replace.Messages[0].Text())
		}
	}
	if p := notesoup.Reset(notesoup.ResetInput{Subagent: true}); strings.Contains(p.Edits[0].Replace.Messages[0].Text(), "subagent") {
		t.Error("nothing is carried, and yet it is said whose it is")
	}
}
