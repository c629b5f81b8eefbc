package planning_test

import (
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/planning"
)

// The commands work before the first turn, which is how a run begins with one.
func TestP6_GoalBeginsTheFirstRoundBeforeAnyTurn(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	want(t, r.types("/goal"), "There is no goal")
	want(t, r.types("/goal Make all tests pass"), "Goal g1 is set", "Round 1 of 256")
	if texts := r.book.texts(); len(texts) != 1 || !strings.Contains(texts[0], "Make all tests pass") {
		t.Fatalf("the inbox has %q", texts)
	}
	item, _ := session.Decode[session.InboxItem](r.book.inbox[0])
	if item.Queue != session.NextTurn || !item.Wake {
		t.Errorf("the round does not open a turn: %+v", item)
	}
	want(t, r.types("/goal"), "active", "round 0 of 256", "Make all tests pass", "It is armed")
}

func TestP6_WhatMayFollowGoal(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	for _, line := range []string{"/goal clear", "/goal pause", "/goal resume", "/goal edit x"} {
		if _, err := r.fails(line); err == nil || !strings.Contains(err.Error(), "/goal OBJECTIVE") {
			t.Errorf("%s without a goal: %v", line, err)
		}
	}
	r.types("/goal resume the download of the mirror")
	if got := r.goal().Objective; got != "resume the download of the mirror" {
		t.Errorf("the objective is %q", got)
	}
	if _, err := r.fails("/goal Another"); err == nil || !strings.Contains(err.Error(), "/goal clear") {
		t.Errorf("a second goal: %v", err)
	}
	if _, err := r.fails("/goal edit  "); err == nil {
		t.Error("an empty objective is taken")
	}
	if _, err := r.fails("/goal edit " + strings.Repeat("x", 4001)); err == nil || !strings.Contains(err.Error(), "4000") {
		t.Errorf("a long objective: %v", err)
	}
	want(t, r.types("/goal resume"), "armed already")
	r.round(r.works)
	want(t, r.types("/goal pause"), "paused")
	want(t, r.types("/goal pause"), "nothing to pause")
	r.stands(planning.PhasePaused, planning.ReasonPerson)
	want(t, r.types("/goal edit Fetch it"), "changed")
	if shown := strings.Join(r.steps("", ""), "\n"); !strings.Contains(shown, "paused goal g1") || !strings.Contains(shown, `now: "Fetch it"`) {
		t.Errorf("the model is told %q", shown)
	}
	r.restart()
	want(t, r.types("/goal resume"), "g1 goes on", "Round 2")
	r.round(func() { r.works(); r.call("update_goal", object{"action": "complete", "evidence": "it is there"}) })
	for _, line := range []string{"/goal resume", "/goal edit More"} {
		if _, err := r.fails(line); err == nil || !strings.Contains(err.Error(), "complete") {
			t.Errorf("%s of a complete goal: %v", line, err)
		}
	}
	want(t, r.types("/goal"), "complete", "Evidence: it is there")
	want(t, r.types("/goal The next one"), "g2")
	want(t, r.types("/goal clear"), "gone")
	want(t, r.types("/goal"), "There is no goal")
	r.restart()
	want(t, r.types("/goal The third one"), "g3")
}

func TestP6_TheCommandsAreListed(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	commands, err := r.commands.Commands(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, c := range commands {
		if names += " " + c.Name; c.Description == "" {
			t.Errorf("/%s has no description", c.Name)
		}
	}
	if names != " goal todo plan" {
		t.Errorf("commands%s", names)
	}
}
