package cli

import (
	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/notesoup/notes"
)

// completeNote lists the homes and the notes of the session that --session names.
func (a *app) completeNote(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	a.enter()
	id := "last"
	if f := cmd.Flag("session"); f != nil {
		id = f.Value.String()
	}
	words := []string{"@project/", "@human/", "@self/", "@model/"}
	_ = a.withNotes(cmd.Context(), id, func(s *notes.Store) error { // without notes there are the homes
		if s == nil {
			return nil
		}
		for _, h := range s.Homes() {
			l, err := h.List(cmd.Context())
			if err != nil {
				continue
			}
			for _, n := range l.Notes {
				words = append(words, notes.Address{Home: h.Kind(), Path: n.Path}.String())
			}
		}
		return nil
	})
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
