package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// verified is what the check of one session found.
type verified struct {
	ID         string           `json:"id"`
	OK         bool             `json:"ok"`
	Events     int64            `json:"events"`
	Violations []fold.Violation `json:"violations"`
	Error      string           `json:"error,omitempty"` // why it could not be read to its end
}

func (a *app) sessionVerifyCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "verify [ID | last]",
		Short: "Hold a session's log against the rules",
		Long: `Verify reads the whole log: seqs without gaps, turns and steps balanced, each call
answered once, compactions whole, and a snapshot that agrees with a full fold. It
ends with exit code 9 where a rule is broken.`,
		Example: `  tureen session verify last
  tureen session verify --all --json`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return usagef("give one of them", "both --all and a session are named")
			}
			return a.withStore(func(s *store) error {
				results, err := s.verify(cmd.Context(), sessionArgument(args), all)
				if err != nil {
					return err
				}
				if err := a.print(asJSON, results, func(w io.Writer) error { return writeVerified(w, results) }); err != nil {
					return err
				}
				for _, r := range results {
					if !r.OK {
						return silentExit(exitState)
					}
				}
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&all, "all", false, "verify every session")
	return cmd
}

func (s *store) verify(ctx context.Context, prefix string, all bool) ([]verified, error) {
	results := []verified{}
	if !all {
		id, err := s.Resolve(ctx, prefix)
		if err != nil {
			return nil, err
		}
		return append(results, s.verifyOne(ctx, id)), ctx.Err()
	}
	list, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range list {
		results = append(results, s.verifyOne(ctx, row.ID))
	}
	return results, ctx.Err()
}

func (s *store) verifyOne(ctx context.Context, id string) verified {
	v := verified{ID: id, Violations: []fold.Violation{}}
	r, err := s.View(ctx, id)
	if err != nil {
		v.Error = err.Error()
		return v
	}
	defer r.Close()
	violations, err := fold.Check(ctx, r)
	v.Violations = append(v.Violations, violations...)
	if err != nil {
		v.Error = stateFault(id, err).Error()
	} else if v.Events, err = r.Head(ctx); err != nil {
		v.Error = stateFault(id, err).Error()
	}
	v.OK = v.Error == "" && len(v.Violations) == 0
	return v
}

func writeVerified(w io.Writer, results []verified) (err error) {
	for _, v := range results {
		switch {
		case v.OK:
			_, err = fmt.Fprintf(w, "%s ok, %s\n", v.ID, render.Count(int(v.Events), "event"))
		case v.Error != "":
			_, err = fmt.Fprintf(w, "%s cannot be read: %s\n", v.ID, render.Plain(v.Error))
		default:
			_, err = fmt.Fprintf(w, "%s breaks the rules %s\n", v.ID, render.Count(len(v.Violations), "time"))
		}
		for _, x := range v.Violations {
			_, err = fmt.Fprintf(w, "  event %d: %s: %s\n", x.Seq, x.Rule, render.Plain(x.Text))
		}
	}
	if len(results) == 0 {
		_, err = fmt.Fprintln(w, "no session so far")
	}
	return err
}

var _ session.Store = (*store)(nil)
