package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/agent"
)

// contextPreview is what a compaction would come to: the object of --json.
type contextPreview struct {
	Session string `json:"session"`
	agent.Preview
}

func (a *app) contextPreviewCommand() *cobra.Command {
	var id, instructions string
	var asJSON, full bool
	cmd := &cobra.Command{
		Use:   "preview [ID | last]",
		Short: "Ask the strategy what it would make of the context now",
		Long: `Preview opens a session, asks its strategy what a compaction would come to now,
and applies nothing: the conversation stays as it is; the log notes that the session
was opened, and what models were asked. It shows which messages would go, what would
take their place and how much room that makes.

A strategy that lets a model write, such as summary, calls the model for a
preview as it would for a compaction: that costs tokens, which are booked in the
session, and the text of a compaction later on may be another. The strategy is
the session's own, unless -P or -c name another.

The session must not be in use: a chat has /context, and compacts with /compact.

--json prints one object: session, strategy, kind (trim, summary, reset, or "" where
there is nothing to do), tokens_before, tokens_after, reset_at, relieved,
model_calls, cost_usd, ms, trimmed, dropped, kept, added, boot, and refused where the host would
not apply it.`,
		Example: `  tureen context preview
  tureen context preview --session 01k7 --full
  tureen context preview -c compaction.strategy=summary --instructions "keep the error texts"`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionNamed(args, id)
			if err != nil {
				return err
			}
			p, err := a.previewContext(cmd.Context(), id, instructions)
			if err != nil {
				return err
			}
			return a.print(asJSON, p, func(w io.Writer) error { return p.write(w, full, a.compactCommandFor(p.Session)) })
		},
	}
	cmd.Flags().StringVar(&id, "session", "", "the session, instead of the argument")
	cmd.Flags().StringVar(&instructions, "instructions", "", "what the strategy should mind")
	cmd.Flags().BoolVar(&full, "full", false, "show the whole of the texts that would be added")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// previewContext takes the session for as long as the strategy thinks.
func (a *app) previewContext(ctx context.Context, prefix, instructions string) (p contextPreview, err error) {
	r, err := a.newReport(formatText)
	if err != nil {
		return p, err
	}
	w := &work{app: a, report: r}
	err = w.run(ctx, job{
		open: func(ctx context.Context, w *work) (*host.Host, error) { return w.openAlone(ctx, prefix) },
		do: func(ctx context.Context, w *work, h *host.Host) (err error) {
			if w.profile.Compaction.Strategy == host.StrategyNone {
				return usagef("choose one with -c compaction.strategy=NAME", "the session runs with no compaction strategy")
			}
			p.Session = h.ID()
			p.Preview, err = h.Agent.Preview(ctx, instructions)
			return err
		},
	})
	return p, err
}

// openAlone takes a session that nobody works in.
func (w *work) openAlone(ctx context.Context, prefix string) (*host.Host, error) {
	id, err := w.store.Resolve(ctx, prefix)
	if err != nil {
		return nil, err
	}
	owner, err := w.store.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	if owner != "" {
		return nil, faultf(exitState, "SESSION_LOCKED", "wait until that process is done; tureen context show reads beside it",
			"a preview opens the session, and session %s is in use by %s", id, owner)
	}
	return w.resume(ctx, id)
}

// write is what people get to read.
func (p contextPreview) write(w io.Writer, full bool, command string) error {
	if p.Kind == "" {
		_, err := fmt.Fprintf(w, "strategy %s: nothing to compact%s\n", render.Head(p.Strategy, 80), p.spent())
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "would be\t%s by %s: %s→%s tokens%s\n", render.Head(string(p.Kind), 20), render.Head(p.Strategy, 80),
		render.Amount(p.TokensBefore), render.Amount(p.TokensAfter), p.spent())
	if p.ResetAt > 0 {
		side := "above"
		if p.Relieved {
			side = "below"
		}
		fmt.Fprintf(tab, "line\t%d tokens: the new context lies %s it\n", p.ResetAt, side)
	}
	fmt.Fprintf(tab, "messages\t%s, %s, %d added\n", trimmed(p.Trimmed), gone(p.Dropped), len(p.Added))
	if p.Refused != "" {
		fmt.Fprintf(tab, "refused\t%s\n", render.Head(p.Refused, 300))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for i, text := range p.Added {
		fmt.Fprintf(w, "\nadded %d:\n%s\n", i+1, excerpt(text, full))
	}
	if p.Boot != "" {
		fmt.Fprintf(w, "\nthe new window begins with:\n%s\n", excerpt(p.Boot, full))
	}
	noted := "that it was opened"
	if p.ModelCalls > 0 {
		noted += " and what that used"
	}
	_, err := fmt.Fprintf(w, "\nthe conversation is as it was, the log of the session notes %s; %s does it\n", noted, command)
	return err
}

// compactCommandFor is how to have done what was previewed.
func (a *app) compactCommandFor(id string) string {
	words := []string{"tureen compact", id}
	if a.profile != "" {
		words = append(words, "-P", shellWord(a.profile))
	}
	for _, o := range a.overrides {
		if key, _, _ := strings.Cut(o, "="); !strings.HasPrefix(key, "compaction.") {
			o = key + "=…" // it may hold a secret
		}
		words = append(words, "-c", shellWord(o))
	}
	return strings.Join(words, " ")
}

// shellWord is a word as a shell takes it.
func shellWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("=._-/:…@", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(render.Plain(word), "'", `'\''`) + "'"
}

// spent says what a preview cost where it cost something.
func (p contextPreview) spent() string {
	if p.ModelCalls == 0 {
		return ""
	}
	return ", after " + render.Count(p.ModelCalls, "model call") + " for this preview"
}

func trimmed(n int) string { return render.Count(n, "result") + " trimmed" }
func gone(n int) string    { return fmt.Sprintf("%d gone", n) }

// excerptLines is how much of a text is shown.
const excerptLines = 8

// excerpt is the beginning of a text, or the whole, indented.
func excerpt(text string, full bool) string {
	lines := strings.Split(strings.TrimRight(render.Plain(text), "\n"), "\n")
	var b strings.Builder
	for i, line := range lines {
		if i == excerptLines && !full {
			fmt.Fprintf(&b, "  … %s more; --full shows them\n", render.Count(len(lines)-i, "line"))
			break
		}
		if !full {
			line = render.Head(line, 160)
		}
		b.WriteString("  " + line + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
