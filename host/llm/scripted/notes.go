package scripted

import (
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

// notePath is the note that the agent keeps, among the session's own.
const notePath = "reading-log.md"

// notes is what the request shows of the agent's note.
type notes struct {
	told     bool // the tools are offered and the system prompt speaks of notes
	known    bool // the note exists
	hasTask  bool // and holds the task
	clash    bool // to create it was refused because it exists
	wrote    bool // a write stands in the conversation
	read     bool // the note was read in the conversation, to its end
	missing  bool // it was looked for in vain
	cursor   string
	failures int             // calls that failed since the last good one
	through  string          // the progress that the note holds
	part     string          // and of which file it holds a part
	last     string          // the text of the last good write
	saved    map[string]bool // keys of the findings that it holds
}

var (
	speaksOfNotes = pattern(`(?i)\bnotes?\b|notes_write`)
	nextCursor    = pattern(`\bnext(?:_cursor)?=(\S+)`)
)

func (v *view) notesUsable() bool {
	return v.notes.told && v.notes.failures < maxErrors
}

// later tells that this is not the first window: the one before may have ended
// before what it meant to save.
func (v *view) later() bool { return v.notesUsable() && v.notes.read }

// cautious tells that in a later window nothing was saved yet.
func (v *view) cautious() bool { return v.later() && !v.notes.wrote }

func (v *view) mayReadNotes() bool {
	return v.offers["notes_read"] && !v.notes.missing && v.notes.failures < maxErrors && (!v.notes.read || v.notes.cursor != "")
}

// unsaved tells whether the note lacks a finding or the progress in sight. What
// was just written word for word is not written again.
func (v *view) unsaved() bool {
	return (v.unsavedFacts() || v.through() > v.notes.through || v.newPart()) && v.addition() != v.notes.last
}

func (v *view) newPart() bool { return v.part() != "" && v.part() != v.notes.part }

func (v *view) unsavedFacts() bool { return len(v.freshFacts()) > 0 }

func (v *view) freshFacts() []fact {
	var fresh []fact
	for _, f := range v.facts.sorted() {
		if !v.notes.saved[f.key()] {
			fresh = append(fresh, f)
		}
	}
	return fresh
}

// filesUnsaved counts the files in sight that the note does not know as read, or
// not as far.
func (v *view) filesUnsaved() int {
	n := 0
	if v.newPart() {
		n++
	}
	for name, f := range v.files {
		if f.complete && name > v.notes.through {
			n++
		}
	}
	return n
}

// writeNotes appends what the note lacks, or creates the note.
func (v *view) writeNotes() Reply {
	mode := "append"
	if !v.notes.known {
		mode = "create"
	}
	return v.call("save findings and progress in "+notePath, "notes_write", map[string]any{"path": notePath, "mode": mode, "text": v.addition()})
}

// addition is what the note lacks: the task, findings, and the progress last, so
// that whoever sees the progress has seen the findings too.
func (v *view) addition() string {
	var b strings.Builder
	if !v.notes.known {
		b.WriteString("# Reading log\n")
	}
	if v.hasTask && !v.notes.hasTask {
		fmt.Fprintf(&b, "\nTask: %s\n", v.task.text)
	}
	fresh, through := v.freshFacts(), v.through()
	further := through > v.notes.through
	if len(fresh) > 0 || further || v.newPart() {
		b.WriteString("\n")
	}
	for _, f := range fresh {
		fmt.Fprintf(&b, "- %s\n", v.line(f))
	}
	if further {
		fmt.Fprintf(&b, "- Read through: %s\n", v.task.label(through))
	}
	if v.newPart() {
		fmt.Fprintf(&b, "- %s\n", v.part())
	}
	return b.String()
}

func (v *view) readNotes() Reply {
	args := map[string]any{"path": notePath}
	if v.notes.cursor != "" {
		args["cursor"] = v.notes.cursor
	}
	return v.call("read "+notePath+" back", "notes_read", args)
}

// sawWrite takes in a notes_write call and its result.
func (v *view) sawWrite(args map[string]any, result *llm.Message) {
	text, _ := args["text"].(string)
	if args["path"] != notePath {
		return
	}
	switch {
	case !result.IsError:
		v.notes.known, v.notes.wrote, v.notes.clash, v.notes.missing = true, true, false, false
		v.notes.failures, v.notes.last, v.urged = 0, text, false
		v.scan(text, true)
		return
	case strings.Contains(result.Text(), "E_EXISTS"):
		v.notes.known, v.notes.clash = true, true
	default:
		v.notes.failures++
	}
	v.scan(text, false)
}

// sawNotes takes in a notes_read call and its result.
func (v *view) sawNotes(args map[string]any, result *llm.Message) {
	if args["path"] != notePath {
		return
	}
	text := result.Text()
	switch {
	case !result.IsError:
		v.notes.known, v.notes.clash, v.notes.failures, v.notes.cursor = true, false, 0, ""
		header, _, _ := strings.Cut(text, "\n")
		if m := nextCursor().FindStringSubmatch(header); m != nil && strings.Trim(m[1], "-") != "" && m[1] != "none" && m[1] != "end" {
			v.notes.cursor = m[1]
		}
		v.notes.read = v.notes.cursor == ""
		v.scan(text, true)
	case strings.Contains(text, "E_NOT_FOUND"):
		v.notes.missing, v.notes.known = true, false
	default:
		v.notes.failures++
	}
}
