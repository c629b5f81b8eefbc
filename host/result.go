package host

import (
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
	Compactions []CompactionResult `json:"compactions"`
	Text        string             `json:"text"` // of the last answer
	Error       *session.Failure   `json:"error"`
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
}

// Tally folds the events of one run into its Result. It is safe for concurrent
// use; hand every event of the run to Event, in order.
type Tally struct {
	mu sync.Mutex
	r  Result
}

// NewTally starts an empty tally.
func NewTally() *Tally { return &Tally{r: Result{Compactions: []CompactionResult{}}} }

// Result returns the tally so far.
func (t *Tally) Result() Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.r
	r.Compactions = append([]CompactionResult{}, r.Compactions...)
	return r
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
			t.request(p.Attempt, p.Usage)
			t.r.Text = p.Message.Text()
		}
	case session.KindAttempt:
		if p, err := session.Decode[session.Attempt](e); err == nil {
			t.request(p.Attempt, p.Usage)
		}
	case session.KindModelCall:
		if p, err := session.Decode[session.ModelCall](e); err == nil {
			t.call(p)
		}
	case session.KindCompactionEnded:
		if p, err := session.Decode[session.CompactionEnded](e); err == nil {
			t.r.Compactions = append(t.r.Compactions, CompactionResult{p.Ordinal, p.Strategy, p.Kind, p.Trigger, p.TokensBefore, p.TokensAfter, p.Millis, p.ModelCalls})
		}
	}
}

func (t *Tally) request(attempt int, u llm.Usage) {
	t.r.Usage = t.r.Usage.Add(u)
	if attempt > 0 {
		t.r.ModelCalls.Retry++
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
