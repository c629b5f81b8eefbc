package planning

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// maxGoalText bounds an objective, evidence and a reason, in code points.
const maxGoalText = 4000

// Phase is where a goal stands.
type Phase string

const (
	PhaseActive   Phase = "active"
	PhasePaused   Phase = "paused"
	PhaseBlocked  Phase = "blocked"
	PhaseComplete Phase = "complete"
	PhaseFailed   Phase = "failed"
	PhaseCleared  Phase = "cleared" // gone; its number is not given again
)

// Why a goal was stopped by the driver, as Goal.Reason has it. A failed one has the
// code of the failure there.
const (
	ReasonRoundLimit = "round-limit"
	ReasonNoProgress = "no-progress"
	ReasonCancelled  = "cancelled" // the person ended the step
	ReasonPerson     = "person"    // the person said so
	ReasonAgent      = "agent"     // the agent said so; Detail has its words
)

// Goal is what a session works at, at most one at a time (P3). Whether it is armed
// is not part of it: that is in memory only.
type Goal struct {
	ID            string `json:"id"`
	Revision      int    `json:"revision"` // grows with each change
	Objective     string `json:"objective"`
	Phase         Phase  `json:"phase"`
	RoundsStarted int    `json:"rounds_started"`
	MaxRounds     int    `json:"max_rounds"`
	Reason        string `json:"reason,omitempty"` // of a paused, blocked or failed one
	Detail        string `json:"detail,omitempty"`
	Evidence      string `json:"evidence,omitempty"` // of a complete one
}

// exists tells whether there is a goal at all.
func (g Goal) exists() bool { return g.ID != "" && g.Phase != PhaseCleared }

// unfinished tells whether the goal is in the way of another one.
func (g Goal) unfinished() bool { return g.exists() && g.Phase != PhaseComplete }

// next is a new goal after g.
func (g Goal) next(objective string, maxRounds int) Goal {
	n, _ := strconv.Atoi(strings.TrimPrefix(g.ID, "g")) // 0 after none
	return Goal{ID: "g" + strconv.Itoa(n+1), Objective: objective, Phase: PhaseActive, MaxRounds: maxRounds}
}

// stopped is the goal in a phase that no round follows.
func (g Goal) stopped(phase Phase, reason, detail string) Goal {
	g.Phase, g.Reason, g.Detail = phase, reason, clip(detail)
	return g
}

// quoted is the objective as JSON has it, in which nothing can end the text around.
func (g Goal) quoted() string {
	b, _ := json.Marshal(g.Objective) // a string always can be
	return string(b)
}

// String is the goal for a person.
func (g Goal) String() string {
	text := fmt.Sprintf("Goal %s is %s, round %d of %d.\nObjective: %s", g.ID, g.Phase, g.RoundsStarted, g.MaxRounds, g.Objective)
	if g.Reason != "" {
		text += "\nReason: " + g.Reason
	}
	if g.Detail != "" {
		text += "\nDetail: " + g.Detail
	}
	if g.Evidence != "" {
		text += "\nEvidence: " + g.Evidence
	}
	return text
}

// goalText checks a text of a goal; what names it.
func goalText(what, text string) (string, error) {
	text = strings.TrimSpace(tool.Clean(text))
	switch length := utf8.RuneCountInString(text); {
	case text == "":
		return "", toolcall.Errorf("BAD_GOAL", "the %s is empty; write it out", what)
	case length > maxGoalText:
		return "", toolcall.Errorf("BAD_GOAL", "the %s has %d characters and may have %d; shorten it, and put what is long into a file", what, length, maxGoalText)
	}
	return text, nil
}

// head is the beginning of a text, in one line of at most n code points.
func head(text string, n int) string {
	r := []rune(strings.Join(strings.Fields(tool.Clean(text)), " "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

// clip shortens what others wrote to what a goal may hold.
func clip(text string) string {
	if r := []rune(tool.Clean(text)); len(r) > maxGoalText {
		return string(r[:maxGoalText-1]) + "…"
	}
	return tool.Clean(text)
}
