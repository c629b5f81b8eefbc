package lab

import (
	"context"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// Homes is how many homes FillNotes fills.
const Homes = 5

// FillNotes writes so many notes, the MAP among them, into each home of a session
// that has none yet.
func (s *Sandbox) FillNotes(ctx context.Context, session string, each int) error {
	id, err := ulid.ParseStrict(session)
	if err != nil {
		return fmt.Errorf("session %q: %w", session, err)
	}
	tree, err := notes.Open(s.Path("notes"))
	if err != nil {
		return err
	}
	defer tree.Close()
	store, err := tree.Store(notes.Who{Session: session, Created: ulid.Time(id.Time()), Agent: "tureen",
		Provider: "openai", Model: endpoint.Model, Workspace: s.Path("work")})
	if err != nil {
		return err
	}
	for _, home := range []string{"", "@project/", "@human/", "@self/", "@model/"} {
		for i := range each {
			w := notes.Write{Path: fmt.Sprintf("%stopic-%d/note-%03d", home, i%7, i), Text: noteText(i, 20)}
			if i == 0 {
				w = notes.Write{Path: home + notes.MapName, Text: noteText(i, 60)}
			}
			if _, err := store.Write(ctx, w); err != nil {
				return fmt.Errorf("write note %s: %w", w.Path, err)
			}
		}
	}
	return nil
}

// noteText is a note of so many lines.
func noteText(n, lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Note %d\n", n)
	for i := range lines {
		fmt.Fprintf(&b, "- fact %d.%d: what was found, where it stands and why it counts\n", n, i)
	}
	return b.String()
}
