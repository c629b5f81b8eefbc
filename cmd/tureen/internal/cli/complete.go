package cli

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/builtin"
)

// complete is what a shell asks for the words that may come next.
type complete = cobra.CompletionFunc

// addCompletions gives the tree's arguments and flags their words.
func (a *app) addCompletions(root *cobra.Command) {
	one, any := atMost(1, a.completeSession), atMost(-1, a.completeSession)
	arguments := map[string]complete{
		"tureen resume": one, "tureen answer": one, "tureen compact": one, "tureen context show": one, "tureen context preview": one, "tureen context undo": one, "tureen session show": one, "tureen session windows": one, "tureen session export": one, "tureen session verify": one,
		"tureen session fork": one, "tureen session salvage": one, "tureen session archive": any, "tureen session rm": any,
		"tureen profile show": atMost(1, a.completeProfile), "tureen profile check": atMost(1, a.completeProfile), "tureen profile trust": atMost(1, a.completeProfile),
		"tureen plugin inspect": atMost(1, completePlugin),
		"tureen notes show":     atMost(1, a.completeNote), "tureen notes edit": atMost(1, a.completeNote), "tureen notes log": atMost(1, a.completeNote),
		"tureen notes diff": atMost(1, a.completeNote), "tureen notes restore": atMost(1, a.completeNote),
	}
	flags := map[string]complete{
		"profile": a.completeProfile, "color": among(render.ColorAuto, render.ColorAlways, render.ColorNever),
		"format": among("jsonl", "md"), "in": among(partNames()...),
		"session": a.completeSession, "resume": a.completeSession, "preset": among(presetNames()...),
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.ValidArgsFunction = arguments[cmd.CommandPath()]
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			words := flags[f.Name]
			if f.Annotations[resultFormat] != nil {
				words = among(formatText, formatJSON, formatStream)
			}
			if words != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, words) // it is there
			}
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
}

// among completes fixed words.
func among(words ...string) complete {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// atMost completes the first n arguments with words, and nothing after them.
func atMost(n int, words complete) complete {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if n >= 0 && len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return words(cmd, args, prefix)
	}
}

// enter goes where -C says: a completion runs without setUp.
func (a *app) enter() {
	if a.dir != "" {
		_ = os.Chdir(a.dir) // what is not there has no words
		a.dir = ""
	}
}

// completeProfile lists the profiles that a name finds; a path is the shell's.
func (a *app) completeProfile(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if isPath(prefix) {
		return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	a.enter()
	o, err := a.profileOptions("")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	entries, err := profile.List(o)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	words := make([]string, len(entries))
	for i, e := range entries {
		words[i] = cobra.CompletionWithDesc(e.Name, e.Description)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeSession lists the sessions, newest first, those aside that stand there
// already.
func (a *app) completeSession(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	var words []string
	if cmd.CommandPath() != "tureen session archive" {
		words = append(words, cobra.CompletionWithDesc("last", "the newest session"))
	}
	err := a.withStore(func(s *store) error {
		list, err := s.List(ctx)
		list = slices.DeleteFunc(list, func(row session.Summary) bool { return slices.Contains(args, row.ID) })
		for _, row := range list {
			words = append(words, cobra.CompletionWithDesc(row.ID, render.Head(row.Title, 50)))
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completePlugin lists the shipped plugins; a path is the shell's.
func completePlugin(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if isPluginPath(prefix) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return builtin.Names(), cobra.ShellCompDirectiveNoFileComp
}
