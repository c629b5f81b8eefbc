package host

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Result is what one run came to: the object of -o json and the data of
// run.completed. Counts are of this run, not of the session.
type Result struct {
	Session     string             `json:"session"`
	Status      string             `json:"status"` // the last turn's reason
	ExitCode    int                `json:"exit_code"`
	Turns       int                `json:"turns"`
	Steps       int                `json:"steps"`
	ModelCalls  ModelCalls         `json:"model_calls"`
	Usage       llm.Usage          `json:"usage"`
	Children    Children           `json:"children"`
	Compactions []CompactionResult `json:"compactions"`
	// ApprovalsUnavailable counts calls that nobody was there to approve.
	ApprovalsUnavailable int              `json:"approvals_unavailable"`
	Text                 string           `json:"text"` // of the last answer
	Error                *session.Failure `json:"error"`
}

// CodeApprovalUnavailable is the Error's of a run that completed without calls that
// nobody was there to approve (T16).
const CodeApprovalUnavailable = "APPROVAL_UNAVAILABLE"

// Children is what subagents came to in this run; it is not in the Result's own
// figures. Usage is of those that settled, with their own subagents.
type Children struct {
	Count int       `json:"count"`
	Usage llm.Usage `json:"usage"`
}

// ModelCalls counts requests by purpose; a retry counts as retry alone.
type ModelCalls struct {
	Main       int `json:"main"`
	Compaction int `json:"compaction"`
	Notes      int `json:"notes"`
	Retry      int `json:"retry"`
	Other      int `json:"other"`
}

// CompactionResult is one applied compaction.
type CompactionResult struct {
	Ordinal      int             `json:"ordinal"`
	Strategy     string          `json:"strategy"`
	Kind         string          `json:"kind"`
	Trigger      session.Trigger `json:"trigger"`
	TokensBefore int             `json:"tokens_before"`
	TokensAfter  int             `json:"tokens_after"`
	Millis       int64           `json:"ms"`
	ModelCalls   int             `json:"model_calls"`
	CostUSD      *float64        `json:"cost_usd"` // of these calls; null = unpriced
	Dropped      int             `json:"dropped"`  // messages that left the context
	Trimmed      int             `json:"trimmed"`  // results that were cut
	Kept         int             `json:"kept"`     // messages that stand as they stood
}

// CompactionOf is what an event says of a compaction.
func CompactionOf(p session.CompactionEnded) CompactionResult {
	return CompactionResult{Ordinal: p.Ordinal, Strategy: p.Strategy, Kind: p.Kind, Trigger: p.Trigger, TokensBefore: p.TokensBefore,
		TokensAfter: p.TokensAfter, Millis: p.Millis, ModelCalls: p.ModelCalls, CostUSD: p.CostUSD, Dropped: p.Dropped, Trimmed: p.Trimmed, Kept: p.Kept}
}

// Tally folds the events of one run into its Result. It is safe for concurrent
// use; hand every event of the run to Event, in order.
type Tally struct {
	mu       sync.Mutex
	r        Result
	children map[string]bool // that began to work

	approvals  map[string]string // what each open question wants approved
	unanswered []string          // what nobody was there to approve, the first few
}

// NewTally starts an empty tally.
func NewTally() *Tally {
	return &Tally{r: Result{Compactions: []CompactionResult{}}, children: map[string]bool{}, approvals: map[string]string{}}
}

// Result returns the tally so far.
func (t *Tally) Result() Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.r
	r.Compactions = append([]CompactionResult{}, r.Compactions...)
	if r.Status == string(session.ReasonCompleted) && r.Error == nil && r.ApprovalsUnavailable > 0 {
		r.Error = &session.Failure{Code: CodeApprovalUnavailable, Message: t.unapproved()}
	}
	return r
}

// Ended sets how the run ended where its last turn does not say so: cancelled, or
// out of time, while it waited for something.
func (t *Tally) Ended(reason session.Reason, failure *session.Failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.r.Status, t.r.Error = string(reason), failure
}

// Replied makes the answer of a slash command the run's text, where no turn gives one.
func (t *Tally) Replied(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.r.Text = text
}

// Event counts one event.
func (t *Tally) Event(e session.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case session.KindTurnStarted:
		t.r.Turns++
		t.r.Error = nil
	case session.KindStepStarted:
		t.r.Steps++
	case session.KindTurnEnded:
		if p, err := session.Decode[session.TurnEnded](e); err == nil && !p.Repaired {
			t.r.Status, t.r.Error = string(p.Reason), p.Error
		}
	case session.KindMessageAssistant:
		if p, err := session.Decode[session.Assistant](e); err == nil {
			t.request(p.Attempt, p.Purpose, p.Usage)
			t.r.Text = p.Message.Text()
		}
	case session.KindAttempt:
		if p, err := session.Decode[session.Attempt](e); err == nil {
			t.request(p.Attempt, p.Purpose, p.Usage)
		}
	case session.KindModelCall:
		if p, err := session.Decode[session.ModelCall](e); err == nil {
			t.call(p)
		}
	case session.KindQuestionAsked:
		if p, err := session.Decode[session.Question](e); err == nil && p.Kind == session.QuestionApproval {
			t.approvals[p.ID] = headline(cmp.Or(p.Detail, p.Text))
		}
	case session.KindQuestionAnswered:
		if p, err := session.Decode[session.Answer](e); err == nil {
			t.answered(p)
		}
	case session.KindChildSpawned:
		if p, err := session.Decode[session.ChildSpawned](e); err == nil {
			t.children[p.ID] = true
			t.r.Children.Count = len(t.children)
		}
	case session.KindChildSettled:
		if p, err := session.Decode[session.ChildSettled](e); err == nil {
			t.r.Children.Usage = t.r.Children.Usage.Add(p.Usage)
		}
	case session.KindCompactionEnded:
		if p, err := session.Decode[session.CompactionEnded](e); err == nil {
			t.r.Compactions = append(t.r.Compactions, CompactionOf(p))
		}
	}
}

func (t *Tally) request(attempt int, purpose llm.Purpose, u llm.Usage) {
	t.r.Usage = t.r.Usage.Add(u)
	if attempt > 0 {
		t.r.ModelCalls.Retry++
		return
	}
	if purpose == llm.PurposeNotes {
		t.r.ModelCalls.Notes++
		return
	}
	t.r.ModelCalls.Main++
}

func (t *Tally) call(p session.ModelCall) {
	t.r.Usage = t.r.Usage.Add(p.Usage)
	switch p.Purpose {
	case llm.PurposeCompaction:
		t.r.ModelCalls.Compaction++
	case llm.PurposeNotes:
		t.r.ModelCalls.Notes++
	default:
		t.r.ModelCalls.Other++
	}
}

// maxNamed is how many of the refused calls an error names.
const maxNamed = 3

func (t *Tally) answered(a session.Answer) {
	what, approval := t.approvals[a.ID]
	delete(t.approvals, a.ID)
	if !approval || a.Outcome != session.OutcomeUnavailable {
		return
	}
	if t.r.ApprovalsUnavailable++; len(t.unanswered) < maxNamed {
		t.unanswered = append(t.unanswered, what)
	}
}

// unapproved says what was not run.
func (t *Tally) unapproved() string {
	calls := "a call was"
	if n := t.r.ApprovalsUnavailable; n > 1 {
		calls = fmt.Sprintf("%d calls were", n)
	}
	text := "the run came to its end, but " + calls + " refused because nobody was there to approve: " + strings.Join(t.unanswered, " | ")
	if more := t.r.ApprovalsUnavailable - len(t.unanswered); more > 0 {
		text += fmt.Sprintf(" | and %d more", more)
	}
	return text
}
