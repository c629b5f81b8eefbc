package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/plugins/builtin"
)

func (a *app) pluginInspectCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect NAME | PATH",
		Short: "Start a plugin and show what it says of itself",
		Long: `Inspect starts a plugin without secrets and without a session, asks what it is,
and stops it. PATH is an executable, or a directory with plugin.toml; it holds a
slash.`,
		Example: `  tureen plugin inspect notesoup
  tureen plugin inspect ./headlines.py --json`,
		Args: arguments(1, 1, "a plugin's name or path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			info, err := a.inspect(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.print(asJSON, info, func(w io.Writer) error { return writeInfo(w, info) })
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) inspect(ctx context.Context, use string) (pluginhost.Info, error) {
	var info pluginhost.Info
	if !isPluginPath(use) {
		if _, err := builtin.Lookup(use, Version); err != nil {
			return info, usagef(did(nearest(use, builtin.Names()), "a plugin of your own is named by a path, such as ./"+use),
				"no plugin %q is shipped; there are: %s", use, strings.Join(builtin.Names(), ", "))
		}
	}
	spec, err := pluginhost.Resolve(use, nil)
	if err != nil {
		return info, usagef("name an executable file, or a directory with plugin.toml", "%v", err)
	}
	paths, err := host.FindPaths(a.env, "")
	if err != nil {
		return info, err
	}
	err = a.inspecting(ctx, paths.Notes, func(s *pluginhost.Supervisor) (err error) {
		info, err = s.Inspect(ctx, spec)
		return err
	})
	return info, err
}

func writeInfo(w io.Writer, info pluginhost.Info) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "name\t%s\nversion\t%s\nroles\t%s\n", plain(info.Name), plain(info.Version), joined(info.Roles))
	if len(info.Capabilities) > 0 {
		fmt.Fprintf(tab, "asks for\t%s\n", joined(info.Capabilities))
	}
	if len(info.HookPoints) > 0 {
		fmt.Fprintf(tab, "hooks\t%s\n", joined(info.HookPoints))
	}
	if info.SDK != "" {
		fmt.Fprintf(tab, "sdk\t%s\n", plain(info.SDK))
	}
	for i, t := range info.Tools {
		label := ""
		if i == 0 {
			label = "tools"
		}
		fmt.Fprintf(tab, "%s\t%s: %s\n", label, plain(t.Name), render.Head(t.Description, 90))
	}
	if err := tab.Flush(); err != nil || len(info.ConfigSchema) == 0 {
		return err
	}
	var schema bytes.Buffer
	if err := json.Indent(&schema, info.ConfigSchema, "", "  "); err != nil {
		return fmt.Errorf("the config schema is not JSON: %w", err)
	}
	_, err := fmt.Fprintf(w, "config schema:\n%s\n", render.PlainFor(w, strings.TrimSpace(schema.String())))
	return err
}

func joined[T ~string](items []T) string {
	words := make([]string, len(items))
	for i, it := range items {
		words[i] = plain(string(it))
	}
	return strings.Join(words, ", ")
}
