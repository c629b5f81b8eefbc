package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

// contextBar is the width of the meter's bar.
const contextBar = 50

// forkCommand makes a branch with the surface from before a compaction.
func forkCommand(id string, at int64) string {
	return fmt.Sprintf("tureen session fork %s --at %d", id, at)
}

func (v *contextView) meter() session.Meter {
	return session.Meter{Window: v.Window, Measured: v.Measured, Source: v.MeasuredSource, ResetAt: v.ResetAt}
}

// write is what people get to read.
func (v *contextView) write(w io.Writer, style render.Style, drawn bool) error {
	var b bytes.Buffer
	if bar := render.Bar(v.meter(), contextBar, style); drawn && bar != "" {
		b.WriteString(bar + "\n")
	}
	fmt.Fprintf(&b, "%s, %s\n", render.Meter(v.meter()), measuredBy(v.MeasuredSource))
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append(v.facts(), v.standing()...) {
		fmt.Fprintf(tab, "%s\t%s\n", row[0], render.Head(row[1], 300))
	}
	tab.Flush()
	v.writeParts(&b)
	v.writeCompactions(&b)
	v.writeOutline(&b)
	_, err := w.Write(b.Bytes())
	return err
}

func measuredBy(source string) string {
	if source == "usage" {
		return "counted by the endpoint"
	}
	return "estimated"
}

// facts are the session's, the model's and the budget's.
func (v *contextView) facts() [][2]string {
	rows := [][2]string{{"session", v.Session}}
	if v.Owner != "" {
		rows[0][1] += ", in use by " + v.Owner
	}
	if v.Archived {
		rows = append(rows, [2]string{"archived", "it takes no step until tureen session archive --undo " + v.Session})
	}
	automatic := ""
	if !v.Automatic {
		automatic = ", nothing is compacted by itself"
	}
	rows = append(rows, [2]string{"profile", v.Profile + ", strategy " + v.Strategy + automatic})
	if v.Model != "" {
		rows = append(rows, [2]string{"model", v.Model})
	}
	window := "unknown"
	if v.Window > 0 {
		window = fmt.Sprintf("%d tokens (%s)", v.Window, v.WindowSource)
	}
	if v.Reserve > 0 {
		window += fmt.Sprintf(", %d of them for an answer", v.Reserve)
	}
	rows = append(rows, [2]string{"window", window}, [2]string{"line", v.line()})
	if v.ResetAt > 0 {
		rows = append(rows, [2]string{"marks", fmt.Sprintf("reminder at %d, close-out at %d, line at %d tokens before the end of the window", v.Reminder, v.Warning, v.LineReserve)})
	}
	return append(rows,
		[2]string{"fixed", render.Amount(v.Fixed) + " that no compaction removes: system prompt and tool declarations"})
}

// line says where a compaction is due.
func (v *contextView) line() string {
	text := "none"
	switch {
	case v.ResetAt > 0 && v.PastLine:
		text = fmt.Sprintf("%d tokens: %s past it", v.ResetAt, render.Amount(-v.Room))
	case v.ResetAt > 0:
		text = fmt.Sprintf("%d tokens: %s left", v.ResetAt, render.Amount(v.Room))
	case v.Window == 0:
		text = "none: the window is not known before a request"
	}
	if v.BudgetProblem != "" {
		keys := map[string]string{"defaults": "with the default keys, for the profile cannot be read: ", "none": ""}[v.BudgetSource]
		text += " (" + keys + v.BudgetProblem + ")"
	}
	return text
}

// standing is what is in force until the next compaction, and what an undo would do.
func (v *contextView) standing() [][2]string {
	rows := [][2]string{{"so far", fmt.Sprintf("window %d, %s", v.Ordinal, render.Count(v.Compactions.Count, "compaction"))}}
	add := func(name, text string) { rows = append(rows, [2]string{name, text}) }
	if len(v.Marks) > 0 {
		add("shown", strings.Join(v.Marks, ", "))
	}
	if v.Armed != nil {
		add("armed", strings.TrimSpace("the agent asked for a reset, which the next step begins with "+v.Armed.Note))
	}
	if v.Asked != nil {
		add("asked", strings.TrimSpace("a compaction waits for the next step "+v.Asked.Instructions))
	}
	if v.Breaker {
		add("breaker", fmt.Sprintf("open: %d compactions in a row brought no relief", v.Failures))
	} else if v.Failures > 0 {
		add("breaker", fmt.Sprintf("closed, after %d compactions that brought no relief", v.Failures))
	}
	if v.Rest {
		add("rest", "automatic compaction rests after an undo; tureen compact, or another model or profile, ends that")
	}
	switch {
	case v.Undo.Possible:
		add("undo", fmt.Sprintf("compaction #%d can be taken back: %s", v.Undo.Ordinal, v.Undo.Command))
	case v.Undo.Command != "":
		add("undo", v.Undo.Why+"; a branch from before it: "+v.Undo.Command)
	case v.Compactions.Count > 0:
		add("undo", v.Undo.Why)
	}
	return rows
}

// inChat is what a chat does not know of the context by itself.
func (v *contextView) inChat() string {
	var b bytes.Buffer
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range v.standing()[1:] {
		if row[0] == "undo" && v.Undo.Possible {
			row[1] = fmt.Sprintf("/undo takes compaction #%d back", v.Undo.Ordinal)
		}
		fmt.Fprintf(tab, "%s\t%s\n", row[0], render.Head(row[1], 300))
	}
	fmt.Fprintf(tab, "turns\t%d in the context; tureen context show lists them\n", v.Turns)
	tab.Flush()
	v.writeParts(&b)
	return strings.TrimRight(b.String(), "\n")
}

// writeParts is the breakdown.
func (v *contextView) writeParts(b *bytes.Buffer) {
	p := v.Breakdown
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tab, "\nTOKENS\tSHARE\t  PART (ESTIMATED)\n")
	for _, row := range []struct {
		name   string
		tokens int
	}{{"system prompt", p.System}, {"tool declarations", p.Tools}, {"checkpoint", p.Checkpoint}, {"your words", p.Owner},
		{"host and plugins", p.Notices}, {"answers", p.Assistant}, {"tool results", p.Results}, {"all", p.Total}} {
		if row.tokens > 0 || row.name == "all" {
			fmt.Fprintf(tab, "%s\t%d%%\t  %s\n", render.Amount(row.tokens), (row.tokens*100+p.Total/2)/max(1, p.Total), row.name)
		}
	}
	tab.Flush()
}

func (v *contextView) writeCompactions(b *bytes.Buffer) {
	if len(v.Compactions.Newest) == 0 {
		return
	}
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(tab, "\nEVENT\tWHEN\tCOMPACTION\n")
	for _, c := range v.Compactions.Newest {
		undone := ""
		if c.Undone {
			undone = ", undone"
		}
		fmt.Fprintf(tab, "%d\t%s\t%s #%d by %s (%s) %s→%s tokens%s\n", c.Seq, clock(c.Time), render.Head(c.Kind, 20), c.Ordinal,
			render.Head(c.Strategy, 80), render.Head(string(c.Trigger), 20), render.Amount(c.TokensBefore), render.Amount(c.TokensAfter), undone)
	}
	tab.Flush()
}

func (v *contextView) writeOutline(b *bytes.Buffer) {
	if len(v.Outline)+v.earlier == 0 {
		return
	}
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(tab, "\nTURN\tEVENTS\tTOKENS\tANSWERS\tSAID AND CALLED\n")
	if v.earlier > 0 {
		fmt.Fprintf(tab, "\t\t\t\t%d more before\n", v.earlier)
	}
	for _, t := range v.Outline {
		said := t.Prompt
		if len(t.Calls) > 0 {
			said += " [" + strings.Join(t.Calls, " ") + "]"
		}
		name := fmt.Sprint(t.Turn)
		if t.Turn == 0 {
			name, said = "-", strings.TrimSpace("(checkpoint/system) "+said)
		}
		fmt.Fprintf(tab, "%s\t%d-%d\t%s\t%d\t%s\n", name, t.From, t.To, render.Amount(t.Tokens), t.Steps, render.Head(strings.TrimSpace(said), 90))
	}
	tab.Flush()
}
