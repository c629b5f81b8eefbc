package shell_test

import (
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/shell"
)

// leave puts the start of a job into a log, as a killed process leaves it.
func leave(t *testing.T, log *ledger, id string) {
	t.Helper()
	record := session.Record{Plugin: shell.Name, Kind: "job", Key: id, Data: []byte(`{"id":"` + id + `","label":"Old one","command":"make"}`)}
	if err := log.append(session.New(session.KindRecord, record)); err != nil {
		t.Fatal(err)
	}
}

func (c *crew) tells(got []string, want ...string) {
	c.t.Helper()
	if len(got) != len(want) {
		c.t.Fatalf("told %q, want %q", got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			c.t.Errorf("told %q, want %q…", got[i], want[i])
		}
	}
}

// TestC097_TheFirstStepHearsOfLostJobs: also where the host lends the log a moment
// later; and no message tells the same again, then or after another start.
func TestC097_TheFirstStepHearsOfLostJobs(t *testing.T) {
	t.Parallel()
	log, dir := &ledger{late: 4}, t.TempDir()
	leave(t, log, "job-1")
	leave(t, log, "job-2")
	c := reopen(t, `{}`, dir, log)
	c.tells(c.step(1, 1), lost+"1 (Old one) ran", lost+"2 (Old one) ran")
	c.tells(c.step(1, 1)) // more input has come for the same step
	c.tells(c.step(1, 2))
	c.settled()
	c.told()
	if r := log.records(t); len(r) != 4 || r[2].ID != "job-1" || r[3].ID != "job-2" || r[3].Tell || !strings.HasPrefix(r[3].Status, "unknown: ") {
		t.Errorf("records %+v", r)
	}
	c = reopen(t, `{}`, dir, log)
	c.tells(c.step(2, 1))
	c.settled()
	c.told()
}

// TestC097_AStepThatDoesNotComeAboutTellsNothing: whoever comes next tells it.
func TestC097_AStepThatDoesNotComeAboutTellsNothing(t *testing.T) {
	t.Parallel()
	log, dir := &ledger{}, t.TempDir()
	leave(t, log, "job-1")
	c := reopen(t, `{}`, dir, log)
	c.tells(c.rejectedStep(1, 1), lost+"1 ")
	c.tells(c.rejectedStep(2, 1), lost+"1 ")
	c.settled() // no step comes: a message opens a turn
	c.told(lost + "1 (Old one) ran")
	c.tells(c.step(3, 1))
	c.settled()
	c.told(lost + "1 ")
}

// TestC097_AKillAfterTheStepWasTold: the step stands in the log, the plugin's own
// note of it does not. The next process reads it there.
func TestC097_AKillAfterTheStepWasTold(t *testing.T) {
	t.Parallel()
	log, dir := &ledger{}, t.TempDir()
	leave(t, log, "job-1")
	t.Run("first", func(t *testing.T) {
		c := reopen(t, `{}`, dir, log)
		c.tells(c.step(1, 1), lost+"1 ")
	})
	c := reopen(t, `{}`, dir, log)
	c.tells(c.step(1, 2))
	c.settled()
	c.told()
}

// TestC097_AnEndThatWasNotToldIsToldToTheStep: the job's end is in the log, its notice is not.
func TestC097_AnEndThatWasNotToldIsToldToTheStep(t *testing.T) {
	t.Parallel()
	log := &ledger{}
	record := session.Record{Plugin: shell.Name, Kind: "job", Key: "job-1", Data: []byte(`{"id":"job-1","label":"Old one","status":"exit code: 4","tell":true}`)}
	if err := log.append(session.New(session.KindRecord, record)); err != nil {
		t.Fatal(err)
	}
	c := reopen(t, `{}`, t.TempDir(), log)
	c.tells(c.step(1, 1), "Background job job-1 (Old one) has ended [status: exit code: 4].")
	c.tells(c.step(1, 2))
	c.settled()
	c.told()
}
