package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
)

// checked is the object of profile check.
type checked struct {
	Name     string            `json:"name"`
	OK       bool              `json:"ok"`
	Path     string            `json:"path,omitempty"`
	Strategy string            `json:"strategy,omitempty"`
	Budget   *checkedBudget    `json:"budget"`
	Plugins  []checkedPlugin   `json:"plugins"`
	Problems []profile.Problem `json:"problems"`
	Warnings []profile.Problem `json:"warnings"`
	Error    *session.Failure  `json:"error"`
}

// checkedBudget is the line in tokens; null where the window is only known once
// the endpoint is asked.
type checkedBudget struct {
	Window    *int `json:"context_window"`
	MaxOutput int  `json:"max_output_tokens"`
	ResetAt   *int `json:"reset_at"`
	Reserve   *int `json:"reserve"`
	Warning   *int `json:"warning"`
	Reminder  *int `json:"reminder"`
}

// checkedPlugin tells whether a config was held against its schema: that of a
// plugin of your own is only known once it is started.
type checkedPlugin struct {
	Name    string `json:"name"`
	Source  string `json:"source"`
	Checked bool   `json:"config_checked"`
}

func (a *app) profileCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [NAME]",
		Short: "Check a profile without starting anything",
		Long: `Check loads a profile, computes the line at which a compaction is due, and holds
the config of each shipped plugin against its schema. It needs no key and no
network. All problems are reported together.

The numbers are tokens. reset_at is how many are in use when a compaction is due;
reserve, warning and reminder are how many then remain: what is kept free of the
window, and where the agent is told to close out and is first reminded.`,
		Example: `  tureen profile check demo
  tureen profile check ./mine.toml --json
  tureen profile check notesoup -c compaction.threshold_ratio=0.7`,
		Args: arguments(0, 1, "one profile"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := a.profile
			if len(args) > 0 {
				name = args[0]
			}
			c, err := a.check(name)
			if !asJSON {
				if err != nil {
					return err
				}
				return a.print(false, nil, c.write)
			}
			exit := exitCompleted
			if err != nil {
				f := faultOf(err)
				exit, c.Error = f.exit, &f.Failure
			}
			if err := a.print(true, c, nil); err != nil {
				return err
			}
			if exit != exitCompleted {
				return silentExit(exit)
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// check finds what is wrong with a profile.
func (a *app) check(name string) (checked, error) {
	c := checked{Name: name, Plugins: []checkedPlugin{}, Problems: []profile.Problem{}, Warnings: []profile.Problem{}}
	p, err := a.loadProfile(name, "")
	if err != nil {
		c.note(err)
		return c, err
	}
	c.Name, c.Path, c.Strategy = p.Name, p.Path, p.Compaction.Strategy
	c.Warnings = append(c.Warnings, p.Warnings...)
	budget, err := compaction.Resolve(p.Compaction.Budget(p.Model.Name), p.Model.ContextWindow, p.Model.MaxOutputTokens, "profile")
	if err != nil {
		return c, err
	}
	c.Budget = budgetOf(budget)
	if err := c.checkPlugins(p); err != nil {
		c.note(err)
		return c, err
	}
	c.OK = true
	return c, nil
}

func (c *checked) note(err error) {
	var problems *profile.Errors
	if errors.As(err, &problems) {
		c.Problems = append(c.Problems, problems.Problems...)
	}
}

func (c *checked) checkPlugins(p *profile.Profile) error {
	all, err := checkedPlugins(p)
	for _, u := range all {
		c.Plugins = append(c.Plugins, checkedPlugin{u.spec.Name, u.source(), u.shipped != nil})
	}
	return err
}

func budgetOf(b compaction.Budget) *checkedBudget {
	c := &checkedBudget{MaxOutput: b.MaxOutputTokens}
	if b.Window > 0 {
		c.Window, c.ResetAt, c.Reserve, c.Warning, c.Reminder = &b.Window, &b.ResetAt, &b.Reserve, &b.Warning, &b.Reminder
	}
	return c
}

func (c checked) write(w io.Writer) error {
	fmt.Fprintf(w, "profile %s (%s) is good\n", c.Name, c.Path)
	if c.Budget.Window == nil {
		fmt.Fprintf(w, "window: asked of the endpoint at the start; output at most %s\n", render.Amount(c.Budget.MaxOutput))
	} else {
		fmt.Fprintf(w, "window %d, output at most %d; compaction at %d, close-out at %d and reminder at %d tokens left\n",
			*c.Budget.Window, c.Budget.MaxOutput, *c.Budget.ResetAt, *c.Budget.Warning, *c.Budget.Reminder)
	}
	_, err := fmt.Fprintf(w, "strategy %s\n", c.Strategy)
	for _, p := range c.Plugins {
		note := ""
		if !p.Checked {
			note = ", its config is checked when it starts"
		}
		_, err = fmt.Fprintf(w, "plugin %s (%s%s)\n", p.Name, p.Source, note)
	}
	return err
}
