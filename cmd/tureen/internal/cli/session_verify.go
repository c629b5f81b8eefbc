package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// ruleStorage is broken where a log does not read.
const ruleStorage = "storage"

// verified is what the check of one session found.
type verified struct {
	ID         string           `json:"id"`
	OK         bool             `json:"ok"`
	Events     int64            `json:"events"` // that read
	Violations []fold.Violation `json:"violations"`
	Error      string           `json:"error,omitempty"` // why it could not be read to its end

	unchecked error // not nil where it is no damage that kept it from being read
}

func (a *app) sessionVerifyCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "verify [ID | last]",
		Short: "Hold a session's log against the rules",
		Long: `Verify reads the whole log: seqs without gaps, each event as it was stored, turns
and steps balanced, each call answered once, compactions whole, and a snapshot that
agrees with a full fold. Behind damage it reads on; each place that does not read is
named as the rule "storage", with its seq, or 0 where the file is damaged and no
event of it. It writes nothing, and ends with exit code 9 where a rule is broken.`,
		Example: `  tureen session verify last
  tureen session verify --all --json`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return usagef("give one of them", "both --all and a session are named")
			}
			return a.withStore(func(s *store) error {
				results, err := a.verify(cmd.Context(), s, sessionArgument(args), all)
				if err != nil {
					return err
				}
				if err := a.print(asJSON, results, func(w io.Writer) error { return writeVerified(w, results) }); err != nil {
					return err
				}
				if slices.ContainsFunc(results, func(v verified) bool { return !v.OK }) {
					return silentExit(exitState)
				}
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&all, "all", false, "verify every session")
	return cmd
}

func (a *app) verify(ctx context.Context, s *store, prefix string, all bool) ([]verified, error) {
	var ids []string
	if all {
		list, err := s.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range list {
			ids = append(ids, row.ID)
		}
	} else {
		id, err := s.Resolve(ctx, prefix)
		if err != nil {
			return nil, err
		}
		ids = []string{id}
	}
	p := a.activity("")
	defer p.clear()
	results := make([]verified, 0, len(ids))
	for _, id := range ids {
		p.about("verify " + id)
		results = append(results, s.verifyOne(ctx, id, p))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return results, nil
}

func (s *store) verifyOne(ctx context.Context, id string, p *activity) verified {
	v := verified{ID: id, Violations: []fold.Violation{}}
	err := s.check(ctx, &v, p)
	if errors.Is(err, session.ErrDamaged) {
		err = s.checkBehind(ctx, &v, err, p)
	}
	if !errors.Is(err, session.ErrDamaged) {
		v.unchecked = err
	}
	if err != nil {
		v.Error = stateFault(id, err).Error()
	}
	v.OK = v.Error == "" && len(v.Violations) == 0
	return v
}

// check holds a log that reads against the rules.
func (s *store) check(ctx context.Context, v *verified, p *activity) error {
	r, err := s.Store.View(ctx, v.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	violations, err := fold.Check(ctx, watchedReader{r, p})
	if err != nil {
		return err
	}
	v.Violations = append(v.Violations, violations...)
	if v.Events, err = r.Head(ctx); err != nil {
		return err
	}
	in, ok := r.(session.Inspector)
	if !ok {
		return nil
	}
	found, err := in.Inspect(ctx)
	for _, what := range found {
		v.Violations = append(v.Violations, fold.Violation{Rule: ruleStorage, Text: what})
	}
	return err
}

// checkBehind holds what still reads of a damaged log against the rules. Where that is
// all of it, found is wrong with the file: a violation without a seq.
func (s *store) checkBehind(ctx context.Context, v *verified, found error, p *activity) error {
	salvager, ok := s.Store.(session.Salvager)
	if !ok {
		return found
	}
	c := fold.NewChecker()
	behind := false
	for e, err := range watched(salvager.Salvage(ctx, v.ID), p) {
		var damage *session.Damage
		switch {
		case errors.As(err, &damage):
			v.Violations = append(v.Violations, stretch(damage))
			behind = true
			continue
		case err != nil:
			return err
		}
		before := len(c.Violations())
		c.Event(e)
		for _, x := range c.Violations()[before:] {
			if x.Rule != "seq" || !behind { // the gap is named already
				v.Violations = append(v.Violations, x)
			}
		}
		v.Events, behind = v.Events+1, false
	}
	if !v.damaged() {
		v.Violations = append(v.Violations, fold.Violation{Rule: ruleStorage, Text: stateFault(v.ID, found).Error()})
	}
	return nil
}

func stretch(d *session.Damage) fold.Violation {
	v := fold.Violation{Seq: d.From, Rule: ruleStorage, Text: upToWhere(d)}
	if d.To != d.From {
		v.To = d.To
	}
	return v
}

// upToWhere says how far damage goes and what it is.
func upToWhere(d *session.Damage) string {
	switch d.To {
	case d.From:
		return d.What
	case 0:
		return "and all that came after it: " + d.What
	}
	return fmt.Sprintf("and up to event %d: %s", d.To, d.What)
}

// watchedReader tells p of the events that are read.
type watchedReader struct {
	session.Reader
	p *activity
}

func (r watchedReader) Read(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return watched(r.Reader.Read(ctx, q), r.p)
}

// violationsShown is how many violations of a session are named for people.
const violationsShown = 50

func writeVerified(w io.Writer, results []verified) (err error) {
	for _, v := range results {
		switch {
		case v.OK:
			_, err = fmt.Fprintf(w, "%s ok, %s\n", v.ID, render.Count(int(v.Events), "event"))
		case v.unchecked != nil:
			_, err = fmt.Fprintf(w, "%s not checked: %s\n", v.ID, render.Plain(v.Error))
		case v.Error != "":
			_, err = fmt.Fprintf(w, "%s cannot be read: %s\n", v.ID, render.Plain(v.Error))
		case v.damaged():
			_, err = fmt.Fprintf(w, "%s is damaged, %s can be read\n", v.ID, render.Count(int(v.Events), "event"))
		default:
			_, err = fmt.Fprintf(w, "%s breaks the rules %s\n", v.ID, render.Count(len(v.Violations), "time"))
		}
		for i, x := range v.Violations {
			if i == violationsShown {
				_, err = fmt.Fprintf(w, "  … and %d more, see --json\n", len(v.Violations)-i)
				break
			}
			where := fmt.Sprintf("event %d", x.Seq)
			if x.Seq == 0 {
				where = "the file"
			}
			_, err = fmt.Fprintf(w, "  %s: %s: %s\n", where, x.Rule, render.Head(x.Text, 400))
		}
		switch {
		case v.OK || v.unchecked != nil:
		case v.Events == 0:
			_, err = fmt.Fprintf(w, "  there is nothing to salvage; tureen session rm %s removes it\n", v.ID)
		default:
			_, err = fmt.Fprintf(w, "  tureen session salvage %s makes a new session of what is whole\n", v.ID)
		}
	}
	if len(results) == 0 {
		_, err = fmt.Fprintln(w, "no session so far")
	}
	return err
}

func (v verified) damaged() bool {
	return slices.ContainsFunc(v.Violations, func(x fold.Violation) bool { return x.Rule == ruleStorage })
}

var _ session.Store = (*store)(nil)
