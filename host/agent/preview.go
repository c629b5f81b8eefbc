package agent

import (
	"context"
	"errors"

	"github.com/tureen-host/tureen/compaction"
)

// Preview is what a compaction would come to now.
type Preview struct {
	Strategy     string          `json:"strategy"`
	Kind         compaction.Kind `json:"kind"` // "" = nothing to do
	TokensBefore int             `json:"tokens_before"`
	TokensAfter  int             `json:"tokens_after"`
	ResetAt      int             `json:"reset_at"`
	Relieved     bool            `json:"relieved"` // the new surface lies below the line
	ModelCalls   int             `json:"model_calls"`
	Millis       int64           `json:"ms"`
	Trimmed      int             `json:"trimmed"`         // results that are cut
	Dropped      int             `json:"dropped"`         // nodes that leave the surface
	Added        []string        `json:"added,omitempty"` // texts that take their place
	Boot         string          `json:"boot,omitempty"`
	Refused      string          `json:"refused,omitempty"` // why the host would not apply it
}

// Preview asks the strategy what it would do now and applies nothing; model calls
// that it makes are booked. It must not run beside Run.
func (a *Agent) Preview(ctx context.Context, instructions string) (Preview, error) {
	return Preview{}, errors.New("not built yet")
}
