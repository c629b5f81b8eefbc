package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// salvaged is what could be rescued of a session.
type salvaged struct {
	host.Moved
	Kept     int              `json:"kept"`
	Bridged  int              `json:"bridged"`
	SetAside int              `json:"set_aside"`
	Lost     int              `json:"lost"`
	Closed   int              `json:"closed"`
	Damage   []session.Damage `json:"damage"`
}

func salvagedOf(m host.Moved, s fold.Salvaged) salvaged {
	return salvaged{m, s.Kept, s.Bridged, s.SetAside, s.Lost, s.Closed, append([]session.Damage{}, s.Damage...)}
}

func (a *app) sessionSalvageCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "salvage [ID | last]",
		Short: "Rescue what is whole of a damaged session",
		Long: `Salvage makes a new session of what still reads of a damaged one, which stays as
it is. Each event that is whole keeps its seq. What cannot be read becomes a mark
that says so, and so does what reads but cannot stand without the rest, which is
kept inside its mark; what the damage left open is closed. A call whose end may be
among what is lost is told to be one whose outcome is not known.

The id of the new session goes to stdout, what was kept and lost and where to
stderr, and all of it to --json. Of a session that is whole nothing is made: its
own id is the answer. Where nothing can be read the exit code is 9.`,
		Example: `  tureen session salvage 01k7
  tureen resume $(tureen session salvage -q 01k7) --continue
  tureen session salvage 01k7 --json | jq .damage`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(func(s *store) error {
				row, err := s.summary(cmd.Context(), sessionArgument(args))
				if err != nil {
					return err
				}
				result, whole, err := a.salvage(cmd.Context(), s, row)
				if err != nil {
					return err
				}
				return a.printSalvaged(asJSON, result, whole)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// salvage makes a session of what reads of another, unless that is whole.
func (a *app) salvage(ctx context.Context, s *store, row session.Summary) (result salvaged, whole bool, err error) {
	p := a.activity("look")
	defer p.clear()
	v := s.verifyOne(ctx, row.ID, p)
	switch {
	case ctx.Err() != nil:
		return result, false, context.Cause(ctx)
	case v.unchecked != nil:
		return result, false, stateFault(row.ID, v.unchecked)
	case v.OK:
		m := host.Moved{Session: row.ID, From: row.ID, Events: v.Events, Title: row.Title}
		return salvagedOf(m, fold.Salvaged{Kept: int(v.Events)}), true, nil
	case v.Events == 0:
		return result, false, faultf(exitState, "SALVAGE_NOTHING", "tureen session verify "+row.ID+" says what was found; tureen session rm "+row.ID+" removes it",
			"nothing of session %s can be read: no session was made", row.ID)
	}
	p.about("salvage")
	moved, kept, err := host.Salvage(ctx, s.Store, row.ID, row, p.at)
	if errors.Is(err, session.ErrDamaged) {
		return result, false, faultf(exitState, "SALVAGE_NOTHING", "tureen session verify "+row.ID+" says what was found", "session %s: %v", row.ID, err)
	}
	if err != nil {
		return result, false, stateFault(row.ID, err)
	}
	return salvagedOf(moved, *kept), false, nil
}

func (a *app) printSalvaged(asJSON bool, r salvaged, whole bool) error {
	if whole {
		if !a.quiet && !asJSON {
			a.lines.Print("session " + r.Session + " is whole (" + render.Count(int(r.Events), "event") + "): nothing was made; tureen session fork " + r.Session + " branches it")
		}
		return a.printID(asJSON, r, r.Session)
	}
	what := fmt.Sprintf("of session %s, which stays as it is, %s kept, %d lost, %d set aside, %d written anew to close what was open",
		r.From, render.Count(r.Kept, "event"), r.Lost, r.SetAside, r.Bridged+r.Closed)
	if !a.quiet && !asJSON {
		for i, d := range r.Damage {
			if i == damageShown {
				a.lines.Print(fmt.Sprintf("  … and %s more, see --json", render.Count(len(r.Damage)-i, "place")))
				break
			}
			a.lines.Print("  lost " + render.Head(d.Error(), 200))
		}
	}
	return a.printMoved(asJSON, r, r.Moved, what)
}

// damageShown is how many places are named for people.
const damageShown = 20

// printID prints the id of a session, or as JSON what is known of it.
func (a *app) printID(asJSON bool, shown any, id string) error {
	return a.print(asJSON, shown, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, id)
		return err
	})
}
