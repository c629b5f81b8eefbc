package scripted

import (
	"fmt"
	"path"
	"regexp"
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
	taskVerb  = regexp.MustCompile(`(?i)\b(?:read|go through|work through|open|scan|check)\b`)
	taskFiles = regexp.MustCompile(`(?i)\b(?:every|all|each|the)\b(?:\s+[\w-]+){0,3}?\s+files?\b`)
	taskDir   = regexp.MustCompile("(?i)\\b(?:in|under|inside|within|from|of)\\s+(?:the\\s+)?(?:directory\\s+|folder\\s+)?[\"'`“]?([\\w~/.-]*[\\w/])")
	taskStart = regexp.MustCompile("(?i)\\b(?:start|begin)(?:s|ning|ing)?\\s+with\\s+(?:[\"'`“]([^\"'`“”\n]{1,80})[\"'`”]|([^\\s,;]+))")
	taskFacts = regexp.MustCompile(`(?i)\bfindings?\b|\b(?:every|all|each)\b.*\bfiles?\b.*\breport\s+(?:what|on|the|each|every|all|any|back)\b`)
	taskLabel = regexp.MustCompile(`\bTask:\s*(.+)`)
	unitStart = regexp.MustCompile(`^\s*(?:[-*•>|#]|\d+[.)])`)
	tagLine   = regexp.MustCompile(`^\s*<[^<>]*>\s*$`)
	unitMarks = regexp.MustCompile(`^[\s>|#*•-]+`)
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
		for _, match := range taskLabel.FindAllStringSubmatch(m.Text(), -1) {
			if t, _ := parseTask(match[1]); t != nil {
				return *t, true
			}
		}
	}
	return task{}, false
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
	files := taskFiles.FindStringIndex(text)
	if files == nil || !taskVerb.MatchString(text) {
		return nil, false
	}
	start := taskStart.FindStringSubmatch(text)
	if start == nil && !taskFacts.MatchString(text) {
		return nil, false
	}
	t = &task{text: text, dir: defaultDir, prefix: defaultPrefix}
	if start != nil {
		t.prefix = strings.TrimSpace(start[1] + start[2])
		clear = true
	}
	rest := text[files[1]:min(len(text), files[1]+120)]
	for _, match := range taskDir.FindAllStringSubmatch(rest, -1) {
		if !slices.Contains(noDir, strings.ToLower(match[1])) {
			t.dir = path.Clean(match[1])
			return t, true
		}
	}
	return t, clear
}

// unitsOf splits a text into paragraphs and list items, each on one line and
// without its markers. A tag on a line of its own ends a paragraph too.
func unitsOf(text string) []string {
	var units []string
	open := false
	for line := range strings.Lines(text) {
		words := strings.Join(strings.Fields(unitMarks.ReplaceAllString(line, "")), " ")
		if words == "" || tagLine.MatchString(line) {
			open = false
			continue
		}
		if open && !unitStart.MatchString(line) {
			units[len(units)-1] += " " + words
			continue
		}
		units, open = append(units, words), !strings.HasPrefix(line, "#")
	}
	return units
}

// fromVerb drops what stands before the wish, such as a label.
func fromVerb(text string) string {
	files := taskFiles.FindStringIndex(text)
	verbs := taskVerb.FindAllStringIndex(text[:files[0]], -1)
	if len(verbs) == 0 {
		return text
	}
	return text[verbs[len(verbs)-1][0]:]
}

// canonical words the task in the fewest words that parseTask understands.
func (t task) canonical() string {
	return fmt.Sprintf("Read every file in %s in order and report each line that starts with %q.", t.dir, t.prefix)
}

// path is a file's path as the agent writes it.
func (t task) path(name string) string { return path.Join(t.dir, name) }

// name returns the file's name where p is a path to a file of the task's directory.
func (t task) name(p string) (string, bool) {
	p = path.Clean(p)
	if t.dir != "." && path.Base(path.Dir(p)) != path.Base(t.dir) {
		return "", false
	}
	return path.Base(p), true
}

// names is a pattern for paths to files of the directory, with the name as its group.
func (t task) names() string {
	if t.dir == "." {
		return `(?:\./)?(\w[\w.-]*\.\w+)`
	}
	return `(?:[\w.~-]*/)*\b` + regexp.QuoteMeta(path.Base(t.dir)) + `/(\w[\w.-]*\w)`
}
