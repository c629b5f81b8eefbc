package notesoup_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup"
)

// postponed appends what a host appends that grants the step, up to its start.
func (d *desk) postponed() {
	d.Append(session.New(session.KindCompactionPostponed, session.CompactionPostponed{}))
	d.Append(session.New(session.KindStepStarted, session.StepStarted{}))
}

func (d *desk) closing(s *notesoup.Strategy) bool {
	d.t.Helper()
	now, err := s.Closing(d.t.Context(), "s1", d.Session)
	if err != nil {
		d.t.Fatal(err)
	}
	return now
}

func TestN15_LastWordsWhereNothingWasSaved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		trigger session.Trigger
		config  notesoup.Config
		refused bool // the host takes no postponement
		saved   bool
		want    bool
	}{
		{"pressure", session.TriggerPressure, notesoup.Config{LastWords: true}, false, false, true},
		{"stopping", session.TriggerStopping, notesoup.Config{LastWords: true}, false, false, true},
		{"something was saved", session.TriggerPressure, notesoup.Config{LastWords: true}, false, true, false},
		{"not again", session.TriggerPressure, notesoup.Config{LastWords: true}, true, false, false},
		{"the agent asked", session.TriggerRequested, notesoup.Config{LastWords: true}, false, false, false},
		{"an overflow", session.TriggerOverflow, notesoup.Config{LastWords: true}, false, false, false},
		{"a person asked", session.TriggerManual, notesoup.Config{LastWords: true}, false, false, false},
		{"switched off", session.TriggerPressure, notesoup.Config{}, false, false, false},
	} {
		d := sit(t)
		s := d.strategy(c.config)
		d.Open(s)
		d.note("older", "of the window before\n")
		d.Compact(s, d.Input(session.TriggerRequested))
		d.work("go", 3)
		if c.saved {
			d.note("progress", "a.txt: 17\n")
		}
		in := d.Input(c.trigger)
		in.MayPostpone = !c.refused
		p := d.Compact(s, in)
		if p.Postpone != c.want || p.Postpone != p.IsZero() || p.Revision != in.Revision {
			t.Errorf("%s: %+v", c.name, p)
		}
		if c.want && (len(p.Steer) != 1 || !strings.Contains(p.Steer[0], "notes_write") || p.Continue != (c.trigger == session.TriggerStopping) || len(p.Records) > 0 || p.Refresh) {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

func TestN15_TheLogSaysWhenLastWordsLast(t *testing.T) {
	t.Parallel()
	d := sit(t)
	config := notesoup.Config{LastWords: true}
	s := d.strategy(config)
	d.Open(s)
	d.work("go", 3)
	if d.closing(s) {
		t.Fatal("before anything was granted")
	}
	in := d.Input(session.TriggerPressure)
	in.MayPostpone = true
	if p := d.Compact(s, in); !p.Postpone {
		t.Fatalf("%+v", p)
	}
	if d.closing(s) {
		t.Error("the host did not take it, and the step closes")
	}
	d.Compact(s, in) // asked again: granted
	d.postponed()
	for name, s := range map[string]*notesoup.Strategy{"this process": s, "another process": d.strategy(config)} {
		if !d.closing(s) {
			t.Errorf("%s does not know of the step", name)
		}
	}
	if d.closing(d.strategy(notesoup.Config{})) {
		t.Error("without last words a step closes")
	}
	d.Append(session.New(session.KindStepStarted, session.StepStarted{})) // the reset failed, and the work goes on
	for name, s := range map[string]*notesoup.Strategy{"this process": s, "another process": d.strategy(config)} {
		if d.closing(s) {
			t.Errorf("%s: the next step closes too", name)
		}
	}
	d.Refuse = errors.New("the log is gone")
	if d.closing(s) {
		t.Error("the log is read though nothing is granted")
	}
	if _, err := d.strategy(config).Closing(t.Context(), "s1", d.Session); !errors.Is(err, d.Refuse) {
		t.Errorf("got %v", err)
	}
}

func TestN15_AfterTheResetNothingCloses(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{LastWords: true})
	d.Open(s)
	d.work("go", 3)
	in := d.Input(session.TriggerPressure)
	in.MayPostpone = true
	d.Compact(s, in)
	d.postponed()
	d.note("progress", "a.txt: 17\n")
	if p := d.Compact(s, d.Input(session.TriggerPressure)); p.IsZero() || !strings.Contains(p.Boot, "a.txt: 17") {
		t.Fatalf("%+v", p)
	}
	d.Append(session.New(session.KindStepStarted, session.StepStarted{}))
	if d.closing(s) || d.closing(d.strategy(notesoup.Config{LastWords: true})) {
		t.Error("a step of the new window closes")
	}
}

func TestN6_N13_StrictHasNeitherReceiptsNorBounds(t *testing.T) {
	t.Parallel()
	d := sit(t)
	opened := d.Opened()
	opened.FixedTokens = d.Budget.ResetAt
	s := d.strategy(notesoup.Config{Strict: true})
	if _, err := s.Open(t.Context(), opened); err != nil {
		t.Fatalf("the size of the fixed prompt is judged: %v", err)
	}
	d.work("go", 1)
	for _, home := range []string{"", "@project/", "@human/", "@self/", "@model/"} {
		d.note(home+"MAP", strings.Repeat("way ", 1024))
		d.note(home+"log", strings.Repeat("log ", 256))
	}
	boot := d.Compact(s, d.Input(session.TriggerPressure)).Boot
	if strings.Contains(boot, "Left out to save room") || strings.Contains(boot, "Saved in the previous window") {
		t.Errorf("shortened, or with receipts:\n%s", boot)
	}
	if strings.Count(boot, strings.Repeat("way ", 1024)) != 5 || strings.Count(boot, strings.Repeat("log ", 256)) != 5 {
		t.Error("a MAP or a head is not whole")
	}
}
