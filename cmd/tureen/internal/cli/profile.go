package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host/profile"
)

func (a *app) profileCommand() *cobra.Command {
	return group("profile", "The profiles: model, strategy, plugins, limits", "",
		a.profileListCommand(), a.profileShowCommand(), a.profileCheckCommand(), a.profileTrustCommand())
}

// profileRow is a row of profile list.
type profileRow struct {
	Name        string `json:"name"`
	Strategy    string `json:"strategy"`
	Description string `json:"description"`
	Path        string `json:"path"`
	Project     bool   `json:"project"` // found in the project, not the user's own
	Trust       string `json:"trust"`   // of a project's: trusted, untrusted or changed; "" where none is needed
	Error       string `json:"error,omitempty"`
}

func (a *app) profileListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the profiles that a name finds here",
		Example: `  tureen profile list
  tureen profile list --json`,
		Args: arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			rows, err := a.profileRows()
			if err != nil {
				return err
			}
			return a.print(asJSON, rows, func(w io.Writer) error {
				tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(tab, "NAME\tSTRATEGY\tTRUST\tDESCRIPTION\tPATH")
				for _, r := range rows {
					about := r.Description
					if r.Error != "" {
						about = "cannot be used: tureen profile check " + r.Name
					}
					fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", r.Name, r.Strategy, orDash(r.Trust), about, r.Path)
				}
				return tab.Flush()
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) profileRows() ([]profileRow, error) {
	o, err := a.profileOptions("")
	if err != nil {
		return nil, err
	}
	entries, err := profile.List(o)
	if err != nil {
		return nil, err
	}
	book, err := a.trustBook()
	if err != nil {
		return nil, err
	}
	rows := make([]profileRow, 0, len(entries))
	for _, e := range entries {
		row := profileRow{Name: e.Name, Strategy: e.Strategy, Description: e.Description, Path: e.Path, Project: e.Project}
		if e.Err != nil {
			row.Error = e.Err.Error()
		} else if state, _, err := book.State(e.Profile); err != nil {
			return nil, trustFault(err)
		} else {
			row.Trust = string(state)
		}
		rows = append(rows, row)
	}
	return rows, nil
}
