package scripted

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

var (
	readPath   = pattern(`(?m)^<path>(.+)</path>$`)
	readOn     = pattern(`Use offset=(\d+) to continue`)
	cutListing = pattern(`^\(.*`)
)

// sawListing takes in a glob of the task's directory.
func (v *view) sawListing(args map[string]any, result *llm.Message) {
	if args["pattern"] != v.task.path("*") {
		return
	}
	if result.IsError {
		v.listErrors++
		return
	}
	v.listed, v.listErrors = true, 0
	for line := range strings.Lines(result.Text()) {
		line = strings.TrimSpace(line)
		if cutListing().MatchString(line) {
			v.cutList = line
			continue
		}
		if line == "" || strings.HasPrefix(line, "No files") {
			continue
		}
		if !strings.Contains(line, "/") {
			line = v.task.path(line)
		}
		name, ok := v.task.name(line)
		if !ok {
			continue
		}
		if v.paths[name] == "" {
			v.listing = append(v.listing, name)
		}
		v.paths[name] = line
	}
	slices.Sort(v.listing)
}

// sawRead takes in a page of a file. A result that lost its page to a strategy
// counts as read: the call stands there and did not fail.
func (v *view) sawRead(args map[string]any, result *llm.Message) {
	text := result.Text()
	at, _ := args["file_path"].(string)
	if m := readPath().FindStringSubmatch(text); m != nil {
		at = m[1]
	}
	name, ok := v.task.name(path.Clean(at))
	if !ok {
		return
	}
	f := v.file(name)
	if result.IsError {
		f.errors++
		return
	}
	f.complete = true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if number, rest, ok := strings.Cut(line, ": "); ok && strings.Trim(number, "0123456789") == "" {
			if strings.HasPrefix(rest, v.task.prefix) {
				v.facts.add(fact{file: name, text: strings.TrimSpace(rest), exact: true})
			}
		} else if m := readOn().FindStringSubmatch(line); m != nil {
			f.complete = false
			f.next, _ = strconv.Atoi(m[1])
		}
	}
}

var (
	callsRead    = pattern(`(?i)\bfiles? (?:already )?read\b|\b(?:already|was|were|been|have|has|had) read\b|\bread (?:so far|completely)\b|\bfinished reading\b|\bread results? (?:of|for)\b|\bresults? of read\b|\bread\s*[({]|<path>`)
	deniesRead   = pattern(`(?i)\bnot (?:yet )?(?:been )?read\b|\bnext\b|\bunread\b|\bto be read\b|\bread through:`)
	sentenceEnd  = pattern(`[.;]\s`)
	headingMarks = pattern(`^\s*#{1,6}\s`)
)

// calledRead is the greatest file that a message calls read in its own words: in the
// file's sentence, in the heading above it, by the call or by a result's header.
func (v *view) calledRead(text string) string {
	top, under := "", false
	for line := range strings.Lines(text) {
		if headingMarks().MatchString(line) {
			under = callsRead().MatchString(line)
		}
		for _, sentence := range sentenceEnd().Split(line, -1) {
			if deniesRead().MatchString(sentence) || !under && !callsRead().MatchString(sentence) {
				continue
			}
			for _, name := range v.mentions(sentence) {
				top = max(top, name)
			}
		}
	}
	return top
}
