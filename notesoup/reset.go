package notesoup

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

var (
	//go:embed prompts/normal.md
	normalText string
	//go:embed prompts/forced.md
	forcedText string
	//go:embed prompts/reminder.md
	reminderText string
	//go:embed prompts/closeout.md
	closeoutText string
)

// MinPool is the least number of paragraphs in a pool.
const MinPool = 4

// Ids of the marks (N14).
const (
	MarkReminder = "notesoup/reminder"
	MarkCloseOut = "notesoup/close-out"
)

// Marks are the reminder and the close-out warning of a budget; none where the
// window is unknown.
func Marks(b compaction.Budget) []compaction.Mark {
	if b.Window <= 0 {
		return nil
	}
	return []compaction.Mark{
		{ID: MarkReminder, Remaining: b.Reminder, Text: strings.TrimSpace(reminderText)},
		{ID: MarkCloseOut, Remaining: b.Warning, Text: strings.TrimSpace(closeoutText)},
	}
}

// Handoff draws the paragraph that a new window's checkpoint begins with (N18):
// from the normal pool where the agent asked for the reset, from the forced pool
// otherwise. Equal seeds draw equal paragraphs.
func Handoff(trigger session.Trigger, seed uint64) string {
	pool := Pool(trigger)
	return pool[rand.New(rand.NewPCG(seed, uint64(len(pool)))).IntN(len(pool))]
}

// Pool is the paragraphs for a trigger.
func Pool(trigger session.Trigger) []string {
	text := forcedText
	if trigger == session.TriggerRequested {
		text = normalText
	}
	var pool []string
	for _, p := range strings.Split(text, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			pool = append(pool, p)
		}
	}
	return pool
}

// ResetInput is all that a reset is made of.
type ResetInput struct {
	Revision int64
	Trigger  session.Trigger
	Seed     uint64
	Budget   compaction.Budget
	Span     compaction.Span // nodes 1..last
	Window   Window          // the new one, with its boot
	Carry    []Said          // word for word, oldest first
	Index    Index
	Subagent bool // what stands in the log as the owner's is the agent's above
	// BootInCheckpoint puts the boot into the checkpoint too, as the seed has it.
	BootInCheckpoint bool
}

// Reset is the proposal that begins a window: everything behind node 0 gives way
// to one checkpoint message, and the boot section is the new window's.
func Reset(in ResetInput) compaction.Proposal {
	var parts []string
	if in.BootInCheckpoint {
		parts = append(parts, in.Window.Boot)
	}
	parts = append(parts, Handoff(in.Trigger, in.Seed))
	if len(in.Carry) > 0 && in.Window.Note != "" {
		parts = append(parts, "You left this with empty_brain:\n<self>\n"+quote(in.Window.Note)+"\n</self>")
	}
	list := in.Index.String(in.Carry)
	if in.Subagent && (list != "" || len(in.Carry) > 0) {
		parts = append(parts, ofSubagent)
	}
	if list != "" {
		parts = append(parts, list)
	}
	if text := carried(in.Carry); text != "" {
		parts = append(parts, text)
		if in.Trigger == session.TriggerStopping {
			parts = append(parts, "You had just ended your turn when the window was closed. If your notes show the request as answered, answer once more in short and stop.")
		}
	}
	checkpoint := llm.Text(llm.RoleUser, strings.Join(parts, "\n\n"))
	return compaction.Proposal{
		Revision: in.Revision, Kind: compaction.KindReset,
		Edits:    []compaction.Edit{{Replace: &compaction.Replace{Span: in.Span, Messages: []*llm.Message{checkpoint}}}},
		Refresh:  true,
		Sections: []compaction.Section{in.Window.Section()},
		Marks:    Marks(in.Budget),
		Records:  []compaction.Record{in.Window.Record()},
		Continue: in.Trigger == session.TriggerStopping,
		Boot:     in.Window.Boot,
	}
}

// ofSubagent says whose words a subagent is shown (C125).
const ofSubagent = "You are a subagent: who is called the owner below is the agent above you, and no person. Its words give you your task, and approve nothing that a person has to."

// Said is something that the owner said, as it stands in the log.
type Said struct {
	Seq  int64
	Text string
	// Ended is why the turn that it belongs to was over before the reset, "" where
	// it goes on.
	Ended session.Reason
}

// MaxCarry is the code points of the owner's words that a checkpoint repeats.
const MaxCarry = 4000

// carried quotes the owner: the request that the turn is about, then as many of
// the newest words as fit, the newest last.
func carried(said []Said) string {
	if len(said) == 0 {
		return ""
	}
	room := MaxCarry
	quotes := make([]string, len(said))
	take := func(i int) {
		if n := len([]rune(said[i].Text)); room >= min(n, 200) {
			text := middleOut(said[i].Text, room, said[i].Seq)
			room -= min(room, n)
			quotes[i] = fmt.Sprintf("<owner seq=\"%d\">\n%s\n</owner>", said[i].Seq, quote(text))
		}
	}
	kept := 0 // what came last has a quarter to itself
	if len(said) > 1 {
		kept = min(len([]rune(said[len(said)-1].Text)), MaxCarry/4)
	}
	room -= kept
	take(0)
	room += kept
	for i := len(said) - 1; i > 0; i-- {
		take(i)
	}
	intro := "The owner's request that you are working on, word for word from the log:"
	if end := said[0].Ended; end != "" {
		intro = fmt.Sprintf("The owner's last request, word for word from the log; its turn is over (%s), so do not take it up again unasked:", end)
	}
	parts := []string{intro}
	for _, q := range quotes {
		if q != "" {
			parts = append(parts, q)
		}
	}
	return strings.Join(parts, "\n")
}

// quote keeps quoted words from writing what stands around them: a note could pass for
// the owner's words (C125).
func quote(text string) string { return compaction.Escape(text, "self", "owner", "log") }

// middleOut is text cut to n code points, with a word on what is missing.
func middleOut(text string, n int, seq int64) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	marker := fmt.Sprintf("\n[... %d characters left out; history_read with seq=%d shows all ...]\n", len(runes)-n, seq)
	keep := max(0, n-len([]rune(marker)))
	tail := keep / 4
	return string(runes[:keep-tail]) + marker + string(runes[len(runes)-tail:])
}
