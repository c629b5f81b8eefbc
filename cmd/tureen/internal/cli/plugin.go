package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/plugins/builtin"
	"github.com/tureen-host/tureen/plugins/sdk"
)

func (a *app) pluginCommand() *cobra.Command {
	return group("plugin", "The plugins of a profile", "", a.pluginListCommand(), a.pluginInspectCommand())
}

// used is a plugin that a profile runs.
type used struct {
	use, key string
	spec     pluginhost.Spec
	shipped  *sdk.Plugin // nil for one that is named by a path
}

// pluginsOf resolves the plugins of a profile and starts none. A name that is
// not shipped is a problem of the profile.
func pluginsOf(p *profile.Profile) ([]used, error) {
	all := keysOf(p)
	var problems []profile.Problem
	for i, u := range all {
		if isPluginPath(u.use) {
			continue
		}
		shipped, err := builtin.Lookup(u.use, Version)
		if err != nil {
			problems = append(problems, unknownPlugin(p, u))
			continue
		}
		all[i].shipped = &shipped
	}
	if len(problems) > 0 {
		return nil, &profile.Errors{Profile: p.Name, Problems: problems}
	}
	specs, err := host.PluginSpecs(p, nil)
	if err != nil {
		return nil, err
	}
	for i := range specs {
		all[i].spec = specs[i]
	}
	return all, nil
}

// checkedPlugins are the plugins of a profile, with the config of each shipped one
// held against its schema. The others answer for theirs when they start.
func checkedPlugins(p *profile.Profile) ([]used, error) {
	all, err := pluginsOf(p)
	if err != nil {
		return nil, err
	}
	var wrong []error
	for _, u := range all {
		if u.shipped != nil {
			wrong = append(wrong, pluginhost.CheckConfig(u.spec, u.shipped.ConfigSchema))
		}
	}
	return all, errors.Join(wrong...)
}

// keysOf lists what PluginSpecs does, in its order.
func keysOf(p *profile.Profile) []used {
	var all []used
	for _, row := range p.Plugins {
		if row.Use != p.Compaction.Strategy {
			all = append(all, used{use: row.Use, key: row.Key + ".use"})
		}
	}
	if p.Compaction.Strategy != host.StrategyNone {
		all = append(all, used{use: p.Compaction.Strategy, key: "compaction.strategy"})
	}
	return all
}

func unknownPlugin(p *profile.Profile, u used) profile.Problem {
	problem := p.Problem(u.key, fmt.Sprintf("no plugin %q is shipped", u.use))
	names := builtin.Names()
	if u.key == "compaction.strategy" {
		names = append(strategies(), host.StrategyNone)
	}
	problem.Allowed = strings.Join(names, ", ") + ", or a path with a slash"
	if near := nearest(u.use, names); near != "" {
		problem.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return problem
}

// strategies are the shipped plugins that offer one.
func strategies() []string {
	var names []string
	for _, name := range builtin.Names() {
		if p, err := builtin.Lookup(name, Version); err == nil && slices.Contains(p.Roles, sdk.RoleStrategy) {
			names = append(names, name)
		}
	}
	return names
}

func isPluginPath(use string) bool { return strings.Contains(use, "/") }

// source says where a plugin comes from.
func (u used) source() string {
	if u.shipped != nil {
		return "shipped"
	}
	return u.use
}

// info is what the plugin says of itself; only one that is named by a path is
// started for it.
func (u used) info(ctx context.Context, s *pluginhost.Supervisor) (sdk.Info, error) {
	if p := u.shipped; p != nil {
		return sdk.Info{Name: p.Name, Version: p.Version, Roles: p.Roles, Capabilities: p.Capabilities, HookPoints: p.HookPoints, ConfigSchema: p.ConfigSchema}, nil
	}
	info, err := s.Inspect(ctx, u.spec)
	return info.Info, err
}

// inspecting lends a supervisor that is closed afterwards.
func (a *app) inspecting(ctx context.Context, notesHome string, use func(*pluginhost.Supervisor) error) error {
	s := pluginhost.New(pluginhost.Options{HostVersion: Version, NotesHome: notesHome, Logger: a.logger()})
	err := use(s)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	return errors.Join(err, s.Close(end))
}

// pluginRow is a row of plugin list.
type pluginRow struct {
	Name    string     `json:"name"`
	Version string     `json:"version"`
	Roles   []sdk.Role `json:"roles"`
	Source  string     `json:"source"` // shipped, or a path
	Error   string     `json:"error,omitempty"`
}

func (a *app) pluginListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the plugins that a profile runs",
		Example: `  tureen plugin list -P notesoup
  tureen plugin list -P ./mine.toml --json`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.loadProfile(a.profile, "")
			if err != nil {
				return err
			}
			rows, err := a.pluginRows(cmd.Context(), p)
			if err != nil {
				return err
			}
			return a.print(asJSON, rows, func(w io.Writer) error {
				tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(tab, "NAME\tVERSION\tROLES\tSOURCE")
				for _, r := range rows {
					fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", plain(r.Name), plain(r.Version), joined(r.Roles), plain(r.Source))
				}
				return tab.Flush()
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// pluginRows asks each plugin; one that does not start says so in its row.
func (a *app) pluginRows(ctx context.Context, p *profile.Profile) ([]pluginRow, error) {
	if err := a.trusted(ctx, p); err != nil {
		return nil, err
	}
	all, err := pluginsOf(p)
	if err != nil {
		return nil, err
	}
	notes, err := a.notesHome(p)
	if err != nil {
		return nil, err
	}
	rows := make([]pluginRow, 0, len(all))
	err = a.inspecting(ctx, notes, func(s *pluginhost.Supervisor) error {
		for _, u := range all {
			info, err := u.info(ctx, s)
			if context.Cause(ctx) != nil {
				return context.Cause(ctx)
			}
			row := pluginRow{Name: u.spec.Name, Version: info.Version, Roles: info.Roles, Source: u.source()}
			if info.Name != "" {
				row.Name = info.Name
			}
			if err != nil {
				row.Error = err.Error()
				a.lines.Warning(row.Error, "")
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}
