package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/search"
	"github.com/tureen-host/tureen/host/session"
)

// searchVerb is one search.
type searchVerb struct {
	*app
	matcher *search.Matcher
	id      string
	in      []string
	limit   int
	asJSON  bool
}

func (a *app) sessionSearchCommand() *cobra.Command {
	v := &searchVerb{app: a}
	cmd := &cobra.Command{
		Use:   "search TEXT",
		Short: "Find words in what was said and done",
		Long: `Search finds a text, letter for letter but without regard to case, in what stood in
the conversations: prompts, notices, checkpoints, answers, reasoning, the arguments
of calls, their results (those that were shown shortened are searched whole),
questions and commands. The newest session comes first, and in each the newest event;
archived sessions and those of subagents are searched too.

Where the text stands nowhere that is said, and the exit code is 0. What does not
read of a damaged session is passed over with a warning; where nothing was found
besides, the exit code is 9.`,
		Example: `  tureen session search "connection refused"
  tureen session search TODO --session last --in answer,call
  tureen session search "func main" --limit 0 --json | jq -r '.hits[].session' | sort -u`,
		Args: arguments(1, 1, "one text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[0]) == "" {
				return usagef(`say what: tureen session search "TEXT"`, "the text is empty")
			}
			if v.limit < 0 {
				return usagef("0 shows all", "--limit %d is negative", v.limit)
			}
			parts, err := partsOf(v.in)
			if err != nil {
				return err
			}
			v.matcher = search.NewMatcher(args[0])
			return a.withStore(func(s *store) error { return v.search(cmd.Context(), s, args[0], parts) })
		},
	}
	cmd.Flags().StringVar(&v.id, "session", "", "search this session only")
	cmd.Flags().StringSliceVar(&v.in, "in", nil, "search these parts only: "+strings.Join(partNames(), ", "))
	cmd.Flags().IntVar(&v.limit, "limit", 20, "how many hits to show; 0 shows all")
	jsonFlag(cmd, &v.asJSON)
	return cmd
}

func partNames() []string {
	names := make([]string, len(search.Parts))
	for i, p := range search.Parts {
		names[i] = string(p)
	}
	return names
}

func partsOf(names []string) ([]search.Part, error) {
	if len(names) == 0 {
		return search.Parts, nil
	}
	var parts []search.Part
	for _, name := range names {
		p := search.Part(strings.ToLower(strings.TrimSpace(name)))
		if !slices.Contains(search.Parts, p) {
			return nil, usagef(did(nearest(string(p), partNames()), "use "+strings.Join(partNames(), ", ")), "--in %q is no part of a conversation", name)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// unread is a session that could not be searched to its end.
type unread struct {
	Session string `json:"session"`
	Error   string `json:"error"`
}

// search prints the hits as they are found.
func (v *searchVerb) search(ctx context.Context, s *store, words string, parts []search.Part) error {
	rows, err := v.rows(ctx, s)
	if err != nil {
		return err
	}
	p := v.activity("search")
	defer p.clear()
	out, err := v.hitWriter(words)
	if err != nil {
		return err
	}
	var passed []unread
	more := false
	for _, row := range rows {
		more, err = v.searchOne(ctx, s, row, words, parts, out, p)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var lost *outputLost
		var over *passedOver
		switch {
		case errors.As(err, &lost):
			return outputError(lost.error)
		case errors.As(err, &over):
			p.clear()
			s.warn(fmt.Sprintf("session %s is damaged, and what does not read was passed over: %v", row.ID, over), "tureen session verify "+row.ID+" says what is wrong with it")
			passed = append(passed, unread{row.ID, over.Error()})
		case err != nil:
			f := faultOf(stateFault(row.ID, err))
			p.clear()
			s.warn(fmt.Sprintf("session %s is searched no further: %s", row.ID, f.Message), "tureen session verify "+row.ID+" says what is wrong with it")
			passed = append(passed, unread{row.ID, f.Message})
		}
		if more {
			break
		}
	}
	p.clear()
	if err := outputError(out.end(len(rows), more, passed)); err != nil {
		return err
	}
	if out.count() == 0 && len(passed) > 0 {
		return silentExit(exitState)
	}
	return nil
}

// rows are the sessions to search, newest first.
func (v *searchVerb) rows(ctx context.Context, s *store) ([]session.Summary, error) {
	if v.id == "" {
		return s.List(ctx)
	}
	row, err := s.summary(ctx, v.id)
	return []session.Summary{row}, err
}

// outputLost is an error of the output, not of a session.
type outputLost struct{ error }

// searchOne searches a session from its newest event on. It tells whether there is
// more than may be shown.
func (v *searchVerb) searchOne(ctx context.Context, s *store, row session.Summary, words string, parts []search.Part, out hitWriter, p *activity) (more bool, err error) {
	before, found := int64(0), error(nil) // what stands from before on is searched
	for e, err := range watched(s.events(ctx, row.ID, session.Query{Kinds: search.Kinds(parts), Reverse: true, Text: words}), p) {
		if found = err; err != nil {
			break
		}
		before = e.Seq
		if more, err = v.show(row, v.matcher.In(e, parts), out, p); more || err != nil {
			return more, err
		}
	}
	if !errors.Is(found, session.ErrDamaged) {
		return false, found
	}
	hits, over := v.searchBehind(ctx, s, row.ID, parts, found, before, v.limit-out.count())
	if more, err = v.show(row, hits, out, p); err != nil {
		return more, err
	}
	return more, over
}

// show writes hits of a session, as many as may be shown. It tells whether there were
// more.
func (v *searchVerb) show(row session.Summary, hits []search.Hit, out hitWriter, p *activity) (more bool, err error) {
	for _, hit := range hits {
		if v.limit > 0 && out.count() == v.limit {
			return true, nil
		}
		hit.Session = row.ID
		p.clear()
		if err := out.hit(row, hit); err != nil {
			return false, &outputLost{err}
		}
	}
	return false, nil
}
