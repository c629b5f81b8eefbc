package scripted

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

// Rules is the demonstration agent. It works one kind of job: read every file of
// a directory in name order and report each line that starts with a prefix. It is
// a pure function of the request: it keeps nothing between two requests and knows
// only what stands in the messages, so what a strategy takes out of the request
// is gone for it.
//
// Progress is the greatest file name that the request shows to have been read: by
// a read result, by a "Read through:" line (its notes, its checkpoints and the
// text beside each of its calls carry one), or, while it has no notes, by a
// replacement text that says which files were read. A listing is no progress.
//
// It ends, because each window adds to that: with notes a later window saves what
// a step has read before it reads on, and starts with one file, so that room for
// the notes, the listing and that file is enough. Where a request shows the task and no progress at all it
// starts over. Under a strategy that hides everything but the task it gives up in
// the fourth window, provided that a text in the request numbers the windows
// ("window #4"); where none does, the host's limits have to end it.
type Rules struct {
	ReadsPerStep int // files read in one step, default 2
	SaveEvery    int // files between two notes in the first window, default 3
}

// rule looks at a request and may have an answer to it.
type rule func(*view) (Reply, bool)

// Reply answers with the first rule that has something to do.
func (r Rules) Reply(req llm.Request) Reply {
	r.ReadsPerStep = cmp.Or(r.ReadsPerStep, 2)
	r.SaveEvery = cmp.Or(r.SaveEvery, 3)
	if headings := instruction(req.Messages); headings != nil {
		req.Messages = req.Messages[:len(req.Messages)-1]
		return Reply{Text: look(req).checkpoint(headings)}
	}
	v := look(req)
	for _, apply := range []rule{orient, closeOut, openNotes, r.save, listFiles, r.readFiles, lastSave, recall} {
		if reply, ok := apply(v); ok {
			return reply
		}
	}
	return Reply{Text: v.report()}
}

// orient answers a request that has no task in sight, unless the notes may have it.
func orient(v *view) (Reply, bool) {
	switch {
	case v.ordinary:
		return Reply{Text: v.brief()}, true
	case v.hasTask && !v.offers["read"]:
		return Reply{Text: v.unable()}, true
	case v.hasTask:
		return Reply{}, false
	case v.mayReadNotes() && (v.notes.known || v.prompted):
		return v.readNotes(), true
	}
	return Reply{Text: v.brief()}, true
}

// closeOut saves what is unsaved and then asks for a fresh window.
func closeOut(v *view) (Reply, bool) {
	if !v.closing || !v.offers["empty_brain"] || v.brainErrors >= maxErrors {
		return Reply{}, false
	}
	if v.offers["notes_write"] && v.unsaved() {
		if v.notes.failures >= maxErrors {
			return Reply{}, false // better a full window than a lost one
		}
		return v.writeNotes(), true
	}
	return v.call("start a fresh window", "empty_brain", map[string]any{"note": "notes are in " + notePath + v.throughClause()}), true
}

// openNotes begins the notes, or reads those of an earlier window.
func openNotes(v *view) (Reply, bool) {
	switch {
	case !v.notesUsable():
	case !v.notes.known && !v.notes.wrote:
		return v.writeNotes(), true
	case v.notes.clash && v.unsavedFacts():
		return v.writeNotes(), true
	case v.notes.cursor != "" || !v.notes.wrote && !v.notes.read:
		if v.mayReadNotes() {
			return v.readNotes(), true
		}
	case v.notes.read && !v.notes.hasTask:
		return v.writeNotes(), true // they are about another job
	}
	return Reply{}, false
}

// save writes findings down every few files, in a later window after each step
// that read, and at once when a message asks.
func (r Rules) save(v *view) (Reply, bool) {
	enough := r.SaveEvery
	if v.later() {
		enough = 1
	}
	if v.notesUsable() && v.unsaved() && (v.urged || v.filesUnsaved() >= enough) {
		return v.writeNotes(), true
	}
	return Reply{}, false
}

func listFiles(v *view) (Reply, bool) {
	switch {
	case v.listed:
		return Reply{}, false
	case v.lost():
		return Reply{Text: v.giveUp()}, true
	case !v.offers["glob"] || v.listErrors >= maxErrors:
		return Reply{Text: v.unable()}, true
	}
	return v.call("list the files of "+v.task.dir, "glob", map[string]any{"pattern": v.task.path("*")}), true
}

// readFiles reads the next files, or the next page of one.
func (r Rules) readFiles(v *view) (Reply, bool) {
	atOnce := r.ReadsPerStep
	if v.cautious() {
		atOnce = 1
	}
	var names []string
	reply := Reply{}
	for _, name := range v.pending() {
		args := map[string]any{"file_path": v.paths[name]}
		if f := v.files[name]; f != nil && f.next > 0 {
			args["offset"] = f.next
		}
		reply.Calls = append(reply.Calls, callOf("read", args))
		names = append(names, v.task.label(name))
		if args["offset"] != nil || len(names) == atOnce {
			break
		}
	}
	reply.Text = v.say("read " + strings.Join(names, " and "))
	return reply, len(names) > 0
}

// lastSave makes the notes complete before the report.
func lastSave(v *view) (Reply, bool) {
	if v.notesUsable() && v.unsaved() {
		return v.writeNotes(), true
	}
	return Reply{}, false
}

// recall reads the notes once more where findings are out of sight.
func recall(v *view) (Reply, bool) {
	if v.notesUsable() && v.notes.known && !v.notes.read && len(v.withoutFact()) > 0 && v.mayReadNotes() {
		return v.readNotes(), true
	}
	return Reply{}, false
}

// call makes a reply of one call, with the agent's task and progress beside it.
func (v *view) call(next, tool string, args map[string]any) Reply {
	return Reply{Text: v.say(next), Calls: []Call{callOf(tool, args)}}
}

// say states task, progress and intention in words that a later request can be
// read by.
func (v *view) say(next string) string {
	var b strings.Builder
	if v.hasTask {
		fmt.Fprintf(&b, "Task: %s\n", v.task.canonical())
	}
	if through := v.through(); through != "" {
		fmt.Fprintf(&b, "Read through: %s\n", v.task.label(through))
	}
	if part := v.part(); part != "" {
		fmt.Fprintf(&b, "%s\n", part)
	}
	fmt.Fprintf(&b, "Now: %s", next)
	return b.String()
}

func (v *view) throughClause() string {
	if through := v.through(); through != "" {
		return ", read through " + v.task.label(through)
	}
	return ""
}

func callOf(tool string, args map[string]any) Call {
	text, _ := json.Marshal(args)
	return Call{Name: tool, Arguments: Arguments(text)}
}
