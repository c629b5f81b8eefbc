package scripted

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

// maxErrors is how often the agent tries what fails.
const maxErrors = 2

// file is what the request shows of one file.
type file struct {
	complete bool
	next     int // the line to read on from; 0 = from the start
	errors   int
}

// view is everything that a request shows to the agent.
type view struct {
	task        task
	hasTask     bool
	named       *regexp.Regexp // a path to one of the task's files
	readThrough *regexp.Regexp // "Read through:" lines
	readInPart  *regexp.Regexp // "Read in part:" lines

	offers  map[string]bool // tools by name
	files   map[string]*file
	listed  bool
	listing []string          // names, in order
	paths   map[string]string // name to the path as listed
	cutList string            // the listing's own word that it is not whole

	listErrors, brainErrors int

	said    string // greatest name of the "Read through:" lines
	hearsay string // greatest name that other texts call read
	facts   facts
	notes   notes

	question string // the last user message
	ordinary bool   // the last word is a question without the task
	prompted bool   // a message asks to go on
	closing  bool   // a message asks for empty_brain
	urged    bool   // a message asks to save
	window   int    // greatest window number that a text names
}

var (
	asksToGoOn   = pattern(`(?i)\b(?:continue|carry on|go on|resume|proceed|keep going|finish)\b|empty_brain|notes_(?:read|write)`)
	asksToSave   = pattern(`(?i)empty_brain|notes_write|\bnotes?\b`)
	turnIsOver   = pattern(`(?i)\bturn is over\b`)
	windowNumber = pattern(`(?i)\bwindow(?:\s+#|\s+no\.\s*|\s+number\s+|\s+ordinal\s+|=")(\d{1,4})\b`)
)

// look reads a request from its beginning to its end.
func look(req llm.Request) *view {
	v := &view{offers: map[string]bool{}, files: map[string]*file{}, paths: map[string]string{}}
	v.notes.saved = map[string]bool{}
	for _, t := range req.Tools {
		v.offers[t.Name] = true
	}
	v.task, v.hasTask = findTask(req.Messages)
	if !v.hasTask {
		v.task = task{dir: defaultDir, prefix: defaultPrefix}
	}
	v.named = regexp.MustCompile("(?:^|[\\s\"'`<>|,;:=(\\[{*])" + v.task.names())
	v.readThrough = regexp.MustCompile("(?i)\\bread through:\\s*[\"'`*]*" + v.task.names())
	v.readInPart = regexp.MustCompile("(?i)\\bread in part:\\s*[\"'`*]*" + v.task.names() + `, on from line (\d+)`)
	calls := map[string]llm.ToolCall{}
	spoken := false // the agent has said something
	for _, m := range req.Messages {
		switch m.Role {
		case llm.RoleSystem:
			v.notes.told = v.notes.told || v.offers["notes_write"] && speaksOfNotes().MatchString(m.Text())
			v.scan(m.Text(), true)
		case llm.RoleUser:
			v.sawUser(m.Text(), spoken)
		case llm.RoleAssistant:
			spoken = true
			v.scan(m.Text(), false)
			for _, c := range m.Calls() {
				calls[c.ID] = c
			}
		case llm.RoleTool:
			v.sawResult(calls[m.CallID], m)
		}
	}
	for name, f := range v.files {
		f.complete = f.complete || f.errors == 0 && name <= v.said
	}
	v.classify(req.Messages)
	return v
}

// file is what is known of a file, made where nothing is.
func (v *view) file(name string) *file {
	if v.files[name] == nil {
		v.files[name] = &file{}
	}
	return v.files[name]
}

// scan takes in a text that is not a file's own; saved tells that it stands in
// the notes, or in a boot made from them.
func (v *view) scan(text string, saved bool) {
	if saved {
		v.notes.known = v.notes.known || strings.Contains(text, notePath)
		if t := labelled(text); t != nil && t.dir == v.task.dir && t.prefix == v.task.prefix {
			v.notes.hasTask = true
		}
	}
	for _, m := range v.readThrough.FindAllStringSubmatch(text, -1) {
		name := clean(m[1])
		v.said = max(v.said, name)
		if saved {
			v.notes.through = max(v.notes.through, name)
		}
	}
	for _, m := range v.readInPart.FindAllStringSubmatch(text, -1) {
		f := v.file(clean(m[1]))
		n, _ := strconv.Atoi(m[2])
		f.next = max(f.next, n)
		if saved {
			v.notes.part = v.inPart(clean(m[1]))
		}
	}
	for _, m := range windowNumber().FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		v.window = max(v.window, n)
	}
	for _, f := range v.findFacts(text) {
		v.facts.add(f)
		if saved {
			v.notes.saved[f.key()] = true
		}
	}
}

// sawUser takes in a user message. Before the agent spoke it is a prompt or what
// a strategy left; after that it may ask for something.
func (v *view) sawUser(text string, spoken bool) {
	v.scan(text, false)
	v.notes.known = v.notes.known || strings.Contains(text, notePath)
	v.hearsay = max(v.hearsay, v.calledRead(text))
	if spoken && asksToSave().MatchString(text) {
		v.urged = true
		v.closing = v.closing || strings.Contains(text, "empty_brain")
	}
}

// sawResult takes in a tool's result.
func (v *view) sawResult(c llm.ToolCall, result *llm.Message) {
	var args map[string]any
	_ = json.Unmarshal([]byte(c.Arguments), &args)
	switch c.Name {
	case "glob":
		v.sawListing(args, result)
	case "read":
		v.sawRead(args, result)
	case "notes_write":
		v.sawWrite(args, result)
	case "notes_read":
		v.sawNotes(args, result)
	case "empty_brain":
		if result.IsError {
			v.brainErrors++
			return
		}
		v.closing = false
	}
}

// classify decides whether the last user message is an ordinary question. It is
// none while the task stands in the same turn, or where it asks to go on. A turn is
// over behind an answer without calls, and where a checkpoint says so.
func (v *view) classify(messages []*llm.Message) {
	turn, answered := 0, false
	for i, m := range messages {
		if m.Role == llm.RoleAssistant && len(m.Calls()) == 0 {
			turn, answered = i+1, true
		}
	}
	last := ""
	for _, m := range messages[turn:] {
		if m.Role != llm.RoleUser {
			continue
		}
		if turnIsOver().MatchString(m.Text()) {
			answered = true
			continue
		}
		if t, _ := taskIn(m.Text()); t != nil {
			return
		}
		last = strings.TrimSpace(m.Text())
		v.prompted = v.prompted || asksToGoOn().MatchString(last)
	}
	v.question = last
	v.ordinary = last != "" && !asksToGoOn().MatchString(last) && (answered || strings.HasSuffix(last, "?"))
}
