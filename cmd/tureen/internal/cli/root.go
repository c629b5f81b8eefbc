package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
)

const rootLong = `Tureen runs an LLM agent and lets a profile decide what happens when its context
runs low: notes and a fresh notebook, a summary, or your own plugin.`

const rootExample = `  # no key, no network: watch a small window overflow and be reset
  tureen run -C /tmp/demo -P demo \
    'Read every file in logs in order and report each line that starts with "Finding:"'

  # your own endpoint
  OPENAI_BASE_URL=https://api.deepseek.com/v1 OPENAI_API_KEY=... \
    tureen run -m deepseek-chat "find out why TestX is flaky"

  # the same work under another strategy
  tureen run -C /tmp/demo -P demo -c compaction.strategy=summary \
    'Read every file in logs in order and report each line that starts with "Finding:"'

  # go on where a run was stopped
  tureen resume last "now fix it"`

// root builds the tree of verbs.
func (a *app) root() *cobra.Command {
	root := group("tureen", "Run an LLM agent with a context strategy of your choice", rootLong)
	root.Example = rootExample
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.setUp() }
	root.SetFlagErrorFunc(flagError)
	root.SetOut(a.out)
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVarP(&a.profile, "profile", "P", "", "profile: a name, or the path of a .toml file")
	f.StringArrayVarP(&a.overrides, "config", "c", nil, "override one key of the profile: key=value (repeatable)")
	f.StringVarP(&a.dir, "cd", "C", "", "work in this directory, as if started there")
	f.StringVarP(&a.model, "model", "m", "", "the model's name (model.name)")
	f.StringVar(&a.baseURL, "base-url", "", "the endpoint (model.base_url)")
	f.StringVar(&a.color, "color", render.ColorAuto, "auto, always or never")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "errors only on stderr")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "say more on stderr; answers live on a terminal")
	root.AddCommand(
		a.initCommand(), a.runCommand(), a.chatCommand(), a.resumeCommand(), a.steerCommand(), a.promptCommand(), a.answerCommand(), a.cancelCommand(), a.compactCommand(),
		a.sessionCommand(), a.contextCommand(), a.notesCommand(), a.profileCommand(), a.pluginCommand(), a.modelCommand(),
		a.doctorCommand(), a.schemaCommand(), a.versionCommand(), pluginServeCommand(), exitCodesTopic(), eventsTopic(),
	)
	a.addCompletions(root)
	return root
}

// group is a verb that only holds other verbs. Alone it prints its help.
func group(use, short, long string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef(did(nearest(args[0], verbNames(cmd)), cmd.CommandPath()+" --help lists the verbs"),
				"%s has no verb %q", cmd.CommandPath(), args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(verbs...)
	return cmd
}

func verbNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	return names
}

// arguments takes between least and most arguments; what names them for people.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("usage: "+cmd.UseLine(), "%s needs %s", cmd.CommandPath(), what)
		case most == 0 && len(args) > 0:
			return usagef("usage: "+cmd.UseLine(), "%s takes no arguments, found %q", cmd.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return usagef("usage: "+cmd.UseLine()+"; quote an argument that has spaces", "%s takes %s, found %q too", cmd.CommandPath(), what, args[most])
		}
		return nil
	}
}

// flagError names the nearest flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usagef(cmd.CommandPath()+" --help lists the flags", "%v", err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := nearest(unknown.GetSpecifiedName(), names)
	if near != "" {
		near = "--" + near
	}
	return usagef(did(near, cmd.CommandPath()+" --help lists the flags"), "%v", err)
}

func did(near, otherwise string) string {
	if near == "" {
		return otherwise
	}
	return fmt.Sprintf("did you mean %s?", near)
}

// nearest finds the name that word most probably meant, "" for none. The measure
// is cobra's own.
func nearest(word string, names []string) string {
	menu := &cobra.Command{}
	for _, name := range names {
		menu.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for distance := 1; distance <= 2 && len(word) > 2*distance; distance++ {
		menu.SuggestionsMinimumDistance = distance
		if found := menu.SuggestionsFor(word); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
