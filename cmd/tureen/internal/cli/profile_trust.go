package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/profile/trust"
)

func (a *app) profileTrustCommand() *cobra.Command {
	var list, remove, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust [NAME | PATH]",
		Short: "Let a project's profile choose what runs",
		Long: `Trust says that you have read a profile which came with a project and let it
choose the programs that run, the endpoint, and the variable of the key. It holds
for this file as it is now, and for what it extends in the project: a change asks
for it again. The programs themselves are not looked at.

Your own profiles and the shipped ones need no trust. At a terminal tureen run
asks by itself; without one an untrusted profile ends with exit code 2.`,
		Example: `  tureen profile show team
  tureen profile trust team
  tureen profile trust --list
  tureen profile trust --remove team`,
		Args: arguments(0, 1, "one profile"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := a.profile
			if len(args) > 0 {
				name = args[0]
			}
			switch {
			case list && (remove || len(args) > 0):
				return usagef("leave the rest out", "--list takes no profile and no --remove")
			case asJSON && !list:
				return usagef("tureen profile trust --list --json", "--json is for --list")
			case list:
				return a.listTrusted(asJSON)
			case remove:
				return a.distrust(name)
			}
			return a.trust(name)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&list, "list", false, "list what is trusted")
	cmd.Flags().BoolVar(&remove, "remove", false, "trust it no more")
	return cmd
}

func (a *app) trustBook() (trust.Book, error) {
	paths, err := host.FindPaths(a.env, "")
	return trust.Open(paths.Config), err
}

func trustFault(err error) *fault {
	message, hint := advice(err.Error())
	if hint == "" {
		hint = "tureen doctor shows whether your configuration directory can be written"
	}
	return faultf(exitUsage, "PROFILE_TRUST", hint, "%s", message)
}

func (a *app) trust(name string) error {
	p, err := a.loadProfile(name, "")
	if err != nil {
		return err
	}
	said := fmt.Sprintf("profile %s (%s) is not a project's: it needs no trust", plain(p.Name), plain(p.Path))
	if p.Project {
		book, err := a.trustBook()
		if err != nil {
			return err
		}
		if err := book.Add(p); err != nil {
			return trustFault(err)
		}
		said = fmt.Sprintf("profile %s (%s) is trusted as it is now\n%s", plain(p.Name), plain(p.Path), choices(p))
	}
	return a.print(false, nil, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, said)
		return err
	})
}

// distrust takes trust back. A profile that does not load any more is named by its
// path.
func (a *app) distrust(name string) error {
	book, err := a.trustBook()
	if err != nil {
		return err
	}
	path := ""
	if p, err := a.loadProfile(name, ""); err == nil {
		path = trust.Key(p)
	} else if path, err = filepath.Abs(name); err != nil {
		return err
	} else if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	found, err := book.Remove(path)
	switch {
	case err != nil:
		return trustFault(err)
	case !found:
		return usagef("tureen profile trust --list shows the paths", "profile %s is not among the trusted ones", plain(name))
	}
	return a.print(false, nil, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s is trusted no more\n", plain(path))
		return err
	})
}

// trustedRow is a row of profile trust --list.
type trustedRow struct {
	trust.Entry
	State string `json:"state"` // trusted, changed, or gone
}

func (a *app) listTrusted(asJSON bool) error {
	book, err := a.trustBook()
	if err != nil {
		return err
	}
	entries, err := book.List()
	if err != nil {
		return trustFault(err)
	}
	rows := make([]trustedRow, len(entries))
	for i, e := range entries {
		rows[i] = trustedRow{e, a.trustedState(book, e)}
	}
	return a.print(asJSON, rows, func(w io.Writer) error {
		if len(rows) == 0 {
			_, err := fmt.Fprintln(w, "no profile of a project is trusted")
			return err
		}
		tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tab, "STATE\tSINCE\tPATH")
		for _, r := range rows {
			fmt.Fprintf(tab, "%s\t%s\t%s\n", r.State, clock(r.Time), plain(r.Path))
		}
		return tab.Flush()
	})
}

// trustedState looks what has become of an approved profile.
func (a *app) trustedState(book trust.Book, e trust.Entry) string {
	if _, err := os.Stat(e.Path); err != nil {
		return "gone"
	}
	o, err := a.profileOptions(filepath.Dir(e.Path))
	if err != nil {
		return string(trust.Changed)
	}
	p, err := profile.Load(e.Path, o)
	if err != nil {
		return string(trust.Changed)
	}
	state, _, _ := book.State(p)
	return string(state)
}

// trusted refuses to start what a project's profile names, unless the user
// approved it or does so now: a checkout must not choose the programs that run.
func (a *app) trusted(ctx context.Context, p *profile.Profile) error {
	book, err := a.trustBook()
	if err != nil {
		return err
	}
	refused := refusal(book, p)
	switch {
	case refused == nil:
		return nil
	case refused.Code != codeUntrusted:
		return refused
	}
	if !a.canAsk() {
		return refused
	}
	a.lines.Warning(refused.Message, "")
	a.lines.Print(choices(p))
	yes, err := a.agrees(ctx, "trust it?")
	switch {
	case err != nil:
		return err
	case !yes:
		return refused
	}
	if err := book.Add(p); err != nil {
		return trustFault(err)
	}
	return nil
}

// codeUntrusted is the code of a profile that the user did not approve.
const codeUntrusted = "PROFILE_UNTRUSTED"

// refusal says why a profile must not be used, nil where it may.
func refusal(book trust.Book, p *profile.Profile) *fault {
	state, changed, err := book.State(p)
	hint := fmt.Sprintf("read it, then: tureen profile trust %s; or choose another with -P", plain(p.Name))
	switch {
	case err != nil:
		return trustFault(err)
	case state == trust.Unknown:
		return faultf(exitUsage, codeUntrusted, hint, "profile %q comes from the project (%s), and you have not said that it may choose what runs", p.Name, plain(p.Path))
	case state == trust.Changed:
		for i := range changed {
			changed[i] = plain(changed[i])
		}
		return faultf(exitUsage, codeUntrusted, hint, "profile %q comes from the project and changed since you trusted it: %s", p.Name, strings.Join(changed, ", "))
	}
	return nil
}

// choices lists what a profile chooses, a line each: strategy, plugins with the
// commands that start them, endpoint and key.
func choices(p *profile.Profile) string {
	lines := []string{"  strategy  " + plain(p.Compaction.Strategy)}
	commands := map[string]string{}
	if all, err := pluginsOf(p); err == nil {
		for _, u := range all {
			if u.shipped == nil {
				commands[u.use] = fmt.Sprintf(", runs %q", u.spec.Argv)
			}
		}
	}
	for _, u := range keysOf(p) {
		lines = append(lines, "  plugin    "+plain(u.use)+commands[u.use])
	}
	if m := p.Model; m.BaseURL != "" {
		key := "without a key"
		if m.APIKeyEnv != "" {
			key = "with the key in $" + m.APIKeyEnv
		}
		lines = append(lines, "  endpoint  "+plain(m.BaseURL)+" "+key)
	}
	return strings.Join(lines, "\n")
}
