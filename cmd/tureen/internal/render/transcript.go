package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// Transcript writes a log as Markdown for people, event by event, in plain text.
type Transcript struct {
	w   io.Writer
	err error
}

// NewTranscript starts a transcript with the session's facts.
func NewTranscript(w io.Writer, s session.Summary) *Transcript {
	t := &Transcript{w: w}
	from := ""
	if made := Made(s.Origin); made != "" {
		from = ", " + made
	}
	t.printf("# %s\n\nSession `%s`, %s, profile %s, strategy %s, in `%s`, %s%s.\n", orUntitled(s.Title), s.ID, s.Status,
		s.Profile, s.Strategy, s.Workspace, s.Created.UTC().Format("2006-01-02 15:04 UTC"), from)
	return t
}

func orUntitled(title string) string {
	if title == "" {
		return "Untitled"
	}
	return title
}

// Event adds what a reader should see of an event, often nothing. It returns the
// first error of the transcript.
func (t *Transcript) Event(e session.Event) error {
	var err error
	switch e.Kind {
	case session.KindTurnStarted:
		t.printf("\n## Turn %d\n", e.Turn)
	case session.KindMessageUser:
		err = read(e, func(p session.Message) { t.said(speaker(p), text(p.Message)) })
	case session.KindMessageAssistant:
		err = read(e, t.answer)
	case session.KindToolResult:
		err = read(e, t.result)
	case session.KindCompactionEnded:
		err = read(e, func(p session.CompactionEnded) { t.printf("\n---\n\n*%s*\n\n---\n", Compacted(p)) })
	case session.KindCompactionUndone:
		err = read(e, func(p session.CompactionUndone) { t.printf("\n---\n\n*%s*\n\n---\n", Undone(p)) })
	case session.KindSessionArchived:
		err = read(e, func(p session.Archived) { t.printf("\n*%s.*\n", Archived(p)) })
	case session.KindLost:
		err = read(e, func(p session.Lost) { t.printf("\n*Event %d is lost: %s.*\n", e.Seq, Head(Lost(p), 2*gistLength)) })
	case session.KindQuestionAsked:
		err = read(e, t.question)
	case session.KindQuestionAnswered:
		err = read(e, func(p session.Answer) { t.printf("\n**Answer to %s:** %s\n", p.ID, Answered(p)) })
	case session.KindCommandRun:
		err = read(e, func(p session.CommandRun) {
			t.said("You", strings.TrimSpace("/"+p.Name+" "+p.Arguments))
			t.said("Plugin "+p.Plugin, cmp.Or(p.Text, p.Error))
		})
	case session.KindDirectoryChanged:
		err = read(e, func(p session.DirectoryChanged) { t.printf("\n*The working directory is now `%s`.*\n", p.To) })
	case session.KindChildSpawned:
		err = read(e, func(p session.ChildSpawned) { t.printf("\n*Subagent `%s` works: %s*\n", p.ID, Head(p.Label, nameHead)) })
	case session.KindChildSettled:
		err = read(e, func(p session.ChildSettled) {
			t.printf("\n*Subagent `%s` ended: %s*\n", p.ID, Head(Settled(p), gistLength))
		})
	case session.KindReport:
		err = read(e, func(p session.Report) { t.printf("\n**Report**\n"); t.fenced(string(p.Data)) })
	case session.KindTurnEnded:
		err = read(e, func(p session.TurnEnded) {
			if p.Reason != session.ReasonCompleted {
				t.printf("\n*The turn ended: %s.*\n", Gist(e))
			}
		})
	}
	if err != nil {
		t.printf("\n*%s*\n", err)
	}
	return t.err
}

func read[T any](e session.Event, use func(T)) error {
	p, err := session.Decode[T](e)
	if err == nil {
		use(p)
	}
	return err
}

func speaker(m session.Message) string {
	switch m.Source {
	case session.SourceOwner, session.SourceSteer:
		return "You"
	case session.SourcePlugin:
		return "Plugin " + m.From
	case session.SourceCheckpoint:
		return "Checkpoint"
	case session.SourceContext:
		return "Context"
	}
	return "Host"
}

func (t *Transcript) said(who, words string) {
	if strings.TrimSpace(words) != "" {
		t.printf("\n**%s:**\n\n%s\n", who, strings.TrimRight(words, "\n"))
	}
}

func (t *Transcript) answer(p session.Assistant) {
	if p.Message == nil {
		return
	}
	t.said("Agent", p.Message.Text())
	for _, c := range p.Message.Calls() {
		t.printf("\n**Calls %s**\n", c.Name)
		t.fenced(c.Arguments)
	}
}

func (t *Transcript) question(q session.Question) {
	t.printf("\n**Question %s**\n\n%s\n", q.ID, strings.TrimRight(q.Text, "\n"))
	if q.Detail != "" {
		t.fenced(q.Detail)
	}
	for i, o := range q.Options {
		t.printf("%d. %s\n", i+1, Head(o.Label, nameHead))
	}
}

func (t *Transcript) result(p session.ToolResult) {
	if p.Message == nil {
		return
	}
	verdict := "Result"
	switch {
	case p.Code == "TRIMMED":
		verdict = "Result, trimmed"
	case p.Spilled != 0 && !p.Message.IsError:
		verdict = "Result, shortened"
	case p.Message.IsError:
		verdict = "Failed"
	}
	t.printf("\n**%s %s**\n", verdict, p.Name)
	t.fenced(p.Message.Text())
}

// fenced writes words as they are, in a fence that they do not hold.
func (t *Transcript) fenced(words string) {
	fence := "```"
	for strings.Contains(words, fence) {
		fence += "`"
	}
	t.printf("\n%s\n%s\n%s\n", fence, strings.TrimRight(words, "\n"), fence)
}

func (t *Transcript) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, Plain(fmt.Sprintf(format, args...)))
	}
}
