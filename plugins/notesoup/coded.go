package notesoup

import (
	"context"
	"errors"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// coded is the strategy with the codes of its errors kept over the wire.
type coded struct{ *notesoup.Strategy }

func (c *coded) Open(ctx context.Context, s compaction.Session) (compaction.Opening, error) {
	o, err := c.Strategy.Open(ctx, s)
	return o, withCode(err)
}

func (c *coded) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	p, err := c.Strategy.Propose(ctx, in)
	return p, withCode(err)
}

func withCode(err error) error {
	var config *compaction.ConfigError
	if errors.As(err, &config) {
		return &sdk.Error{Code: config.Code, Message: err.Error()}
	}
	if code := notes.CodeOf(err); code != "" {
		return &sdk.Error{Code: string(code), Message: err.Error()}
	}
	return err
}
