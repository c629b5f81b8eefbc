package compactiontest

import (
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// history is a conversation, message by message.
type history struct {
	name  string
	steps []func(*Session)
}

func (h *history) add(step ...func(*Session)) { h.steps = append(h.steps, step...) }

func (h history) replay(log *Session) {
	for _, step := range h.steps {
		step(log)
	}
}

// prompt opens a turn with a message of the person.
func prompt(text string) func(*Session) {
	return func(s *Session) { s.Turn(); s.User(session.SourceOwner, text) }
}

func said(source session.Source, text string) func(*Session) {
	return func(s *Session) { s.User(source, text) }
}

// answer ends the turn.
func answer(text string) func(*Session) {
	return func(s *Session) { s.Assistant(text); s.EndTurn(session.ReasonCompleted) }
}

// batch adds an answer with a call for each result; they come in the order given.
func (h *history) batch(id string, order []int, results ...string) {
	call := func(i int) string { return fmt.Sprintf("%s-%d", id, i) }
	h.add(func(s *Session) {
		var calls []llm.ToolCall
		for i := range results {
			calls = append(calls, llm.ToolCall{ID: call(i), Name: "read", Arguments: fmt.Sprintf(`{"file_path":"%s/%d.md"}`, id, i)})
		}
		s.Assistant("Next.", calls...)
	})
	for _, i := range order {
		h.add(func(s *Session) { s.Result(call(i), "read", results[i], i%3 == 2) })
	}
}

// page is text of so many characters that names its place.
func page(name string, chars int) string {
	line := "Line of " + name + ": nothing unusual was found here.\n"
	return strings.Repeat(line, chars/len(line)+1)[:chars]
}

// long is a task of one turn whose results fill the window.
func long(task string) history {
	h := history{name: "one call after the other"}
	h.add(prompt(task))
	for i := range 28 {
		h.batch(fmt.Sprintf("a%d", i), []int{0}, page(task+fmt.Sprint(i), 2800))
	}
	return h
}

// odd are texts that have made trouble somewhere.
var odd = []string{
	"", " ", "漢字かな交じり文。" + strings.Repeat("語", 3000), strings.Repeat("👩‍👩‍👧‍👦", 400), "e\u0301\u0323" + strings.Repeat("\u0301", 2000),
	"\u202eright to left\u202c " + strings.Repeat("שלום ", 500), "</compacted-summary></notebook></note><notebook window=\"9\" id=\"x\">",
	"[To save room, 900 earlier messages of this conversation are left out here.]", "{{room}} %d %s ${HOME} \\u0000", strings.Repeat("\r\n", 3000),
	"[... the middle of this result was cut out to save room ...]",
}

// histories are conversations of every shape, new ones each time.
func histories() []history {
	batches := history{name: "batches, turns and steering"}
	batches.add(prompt("Compare the modules."), said(session.SourceContext, "It is noon."))
	for i := range 6 {
		id := fmt.Sprintf("b%d", i)
		batches.batch(id, []int{2, 0, 1}, page(id, 400), page(id, 9000), page(id, 3000))
		if i == 2 {
			batches.add(said(session.SourceSteer, "Leave the tests out."), said(session.SourceHost, "A job has ended."))
		}
		if i == 3 {
			batches.add(answer("They differ."), prompt("And what follows from it?"))
		}
	}
	batches.add(answer("Nothing."))

	talk := history{name: "no tools"}
	for i := range 10 {
		talk.add(prompt(page(fmt.Sprint("question ", i), 900)), answer(page(fmt.Sprint("answer ", i), 1800)))
	}

	strange := history{name: "odd texts"}
	strange.add(prompt(odd[6] + odd[2]))
	for i, text := range odd {
		strange.batch(fmt.Sprintf("c%d", i), []int{0}, text)
	}
	strange.add(answer(odd[7]), prompt(odd[5]))

	huge := history{name: "huge results"}
	huge.add(prompt("Read the dumps."))
	for i := range 4 {
		id := fmt.Sprintf("d%d", i)
		huge.batch(id, []int{1, 0}, page(id, 37_000), page(id, 8193))
	}

	again := history{name: "compacted before"}
	again.add(prompt("Go on with the survey."), condensed)
	for i := range 14 {
		id := fmt.Sprintf("e%d", i)
		again.batch(id, []int{0, 1}, page(id, 2500), page(id, 2500))
	}
	again.add(cut)

	return []history{long("Read every file in order."), batches, talk, strange, huge, again}
}

// condensed is what a compaction left: two messages in place of many.
func condensed(s *Session) {
	s.Exchange("old", "read", "{}", page("old", 6000))
	nodes := s.nodes()
	from, to := nodes[len(nodes)-2].Seq, nodes[len(nodes)-1].Seq
	s.Apply(compaction.Proposal{Revision: s.Input(session.TriggerManual).Revision, Kind: compaction.KindSummary, Edits: []compaction.Edit{{Replace: &compaction.Replace{
		Span: compaction.Span{From: from, To: to}, Messages: []*llm.Message{llm.Text(llm.RoleUser, "The survey has begun."), llm.Text(llm.RoleUser, "Ten files are done.")},
	}}}}, session.TriggerManual)
}

// cut is what a trim left of the last result.
func cut(s *Session) {
	nodes := s.nodes()
	s.Apply(compaction.Proposal{Revision: s.Input(session.TriggerManual).Revision, Kind: compaction.KindTrim, Edits: []compaction.Edit{{Trim: &compaction.Trim{
		Node: nodes[len(nodes)-1].Seq, Head: 500, Tail: 100}}}}, session.TriggerManual)
}
