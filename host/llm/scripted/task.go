package scripted

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

const (
	defaultDir    = "logs"
	defaultPrefix = "Finding:"
)

// task is the job as somebody worded it.
type task struct {
	text   string // the wording, white space collapsed
	dir    string
	prefix string
}

var (
	taskVerb  = pattern(`(?i)\b(?:read|go through|work through|open|scan|check)\b`)
	taskFiles = pattern(`(?i)\b(?:every|all|each|the)\b(?:\s+[\w-]+){0,3}?\s+files?\b`)
	taskDir   = pattern("(?i)\\b(?:in|under|inside|within|from|of)\\s+(?:the\\s+)?(?:directory\\s+|folder\\s+)?(?:[\"'`“]([^\"'`“”\n]+)[\"'`”]|([\\w~/.-]*[\\w/]))")
	taskStart = pattern("(?i)\\b(?:start|begin)(?:s|ning|ing)?\\s+with\\s+(?:[\"'`“]([^\"'`“”\n]{1,80})[\"'`”]|([^\\s,;]+))")
	taskFacts = pattern(`(?i)\bfindings?\b|\b(?:every|all|each)\b.*\bfiles?\b.*\breport\s+(?:what|on|the|each|every|all|any|back)\b`)
	taskLabel = pattern(`\bTask:\s*(.+)`)
	unitStart = pattern(`^\s*(?:[-*•>|#]|\d+[.)])`)
	tagLine   = pattern(`^\s*(?:<[^<>]*>|=+[^=]*=+)\s*$`)
	unitMarks = pattern(`^[\s>|#*•-]+`)
)

// noDir are words that stand where a directory might.
var noDir = []string{
	"order", "name", "names", "turn", "sequence", "full", "alphabetical", "ascending", "numerical", "lexical",
	"them", "it", "that", "this", "which", "each", "every", "all", "total", "directory", "folder",
}

// findTask looks for the task: in what a user message says, newest first and the
// clear ones before the vague; then under a "Task:" label in any other text, which
// is how the agent itself passes the task on.
func findTask(messages []*llm.Message) (task, bool) {
	var vague *task
	for _, m := range slices.Backward(messages) {
		if m.Role != llm.RoleUser {
			continue
		}
		if t, clear := taskIn(m.Text()); clear {
			return *t, true
		} else if vague == nil {
			vague = t
		}
	}
	if vague != nil {
		return *vague, true
	}
	for _, m := range slices.Backward(messages) {
		if t := labelled(m.Text()); t != nil {
			return *t, true
		}
	}
	return task{}, false
}

// labelled is the last task under a "Task:" label.
func labelled(text string) *task {
	for _, match := range slices.Backward(taskLabel().FindAllStringSubmatch(text, -1)) {
		if t, _ := parseTask(match[1]); t != nil {
			return t
		}
	}
	return nil
}

// taskIn looks for a task in a message of several paragraphs and list items. A
// clear one names its directory or its prefix.
func taskIn(text string) (t *task, clear bool) {
	units := unitsOf(text)
	for _, unit := range units {
		found, isClear := parseTask(unit)
		if found == nil {
			continue
		}
		if len(units) > 1 {
			found.text = fromVerb(found.text)
		}
		if isClear {
			return found, true
		}
		if t == nil {
			t = found
		}
	}
	return t, false
}

func parseTask(text string) (t *task, clear bool) {
	files := taskFiles().FindStringIndex(text)
	if files == nil || !taskVerb().MatchString(text) {
		return nil, false
	}
	start := taskStart().FindStringSubmatch(text)
	if start == nil && !taskFacts().MatchString(text) {
		return nil, false
	}
	t = &task{text: text, dir: defaultDir, prefix: defaultPrefix}
	if start != nil {
		t.prefix = strings.TrimSpace(start[1] + start[2])
		clear = true
	}
	rest := text[files[1]:min(len(text), files[1]+120)]
	for _, match := range taskDir().FindAllStringSubmatch(rest, -1) {
		if dir := match[1] + match[2]; !slices.Contains(noDir, strings.ToLower(dir)) {
			t.dir = path.Clean(dir)
			return t, true
		}
	}
	return t, clear
}

// unitsOf splits a text into paragraphs and list items, each on one line and
// without its markers. A tag or title on a line of its own ends a paragraph too.
func unitsOf(text string) []string {
	var units []string
	open := false
	for line := range strings.Lines(text) {
		words := strings.Join(strings.Fields(unitMarks().ReplaceAllString(line, "")), " ")
		if words == "" || tagLine().MatchString(line) {
			open = false
			continue
		}
		if open && !unitStart().MatchString(line) {
			units[len(units)-1] += " " + words
			continue
		}
		units, open = append(units, words), !strings.HasPrefix(line, "#")
	}
	return units
}

// fromVerb drops what stands before the wish, such as a label.
func fromVerb(text string) string {
	files := taskFiles().FindStringIndex(text)
	verbs := taskVerb().FindAllStringIndex(text[:files[0]], -1)
	if len(verbs) == 0 {
		return text
	}
	return text[verbs[len(verbs)-1][0]:]
}

// canonical words the task in the fewest words that parseTask understands.
func (t task) canonical() string {
	dir := t.dir
	if escape(dir) != dir {
		dir = fmt.Sprintf("%q", dir)
	}
	return fmt.Sprintf("Read every file in %s in order and report each line that starts with %q.", dir, t.prefix)
}
