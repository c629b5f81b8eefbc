package scripted

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

var (
	sectionHeading = pattern(`(?m)^ {0,3}(#{2,4} +\S.*?)\s*$`)
	asksCheckpoint = pattern(`(?i)\bcheckpoint\b|\bsummar(?:y|ise|ize)\b|\bcondense\b|\bhand-?over\b`)
	asksToWrite    = pattern(`(?i)\b(?:write|output|produce|answer|reply|fill|keep|use)\b`)
)

// instruction returns the headings that the last message asks to be filled, nil
// where it is not the instruction of a compaction call. A checkpoint that such a
// call left has headings too: it is fenced by tags and holds progress.
func instruction(messages []*llm.Message) []string {
	if len(messages) == 0 || messages[len(messages)-1].Role != llm.RoleUser {
		return nil
	}
	text := messages[len(messages)-1].Text()
	headings := sectionHeading().FindAllStringSubmatch(text, -1)
	if len(headings) < 2 || !asksCheckpoint().MatchString(text) || !asksToWrite().MatchString(text) {
		return nil
	}
	if strings.Contains(text, "</") || strings.Contains(text, "Read through:") {
		return nil
	}
	var out []string
	for _, h := range headings {
		out = append(out, h[1])
	}
	return out
}

// topics say by a word of its heading what a section is filled with; the first
// that matches counts.
var topics = []struct {
	heading func() *regexp.Regexp
	fill    func(*view) []string
}{
	{pattern(`(?i)\bnext\b`), (*view).nextLines},
	{pattern(`(?i)error|problem|fix`), (*view).errorLines},
	{pattern(`(?i)pending|jobs?\b|todo`), (*view).pendingLines},
	{pattern(`(?i)critical|finding|fact|result`), (*view).factLines},
	{pattern(`(?i)file|code|progress|state`), (*view).progressLines},
	{pattern(`(?i)current|work`), (*view).workLines},
}

// checkpoint fills the headings from what is in sight: the task under the first,
// the findings and the progress once each wherever the headings put them.
func (v *view) checkpoint(headings []string) string {
	sections := make([][]string, len(headings))
	placed := map[string]bool{}
	for i, heading := range headings {
		if i == 0 {
			sections[0] = v.taskLines()
			continue
		}
		for _, topic := range topics {
			if !topic.heading().MatchString(heading) {
				continue
			}
			if lines := topic.fill(v); len(lines) > 0 && !placed[lines[0]] {
				placed[lines[0]], sections[i] = true, lines
			}
			break
		}
	}
	last := len(headings) - 1
	for _, lines := range [][]string{v.progressLines(), v.factLines()} {
		if len(lines) > 0 && !placed[lines[0]] {
			sections[last] = append(sections[last], lines...)
		}
	}
	var b strings.Builder
	for i, heading := range headings {
		lines := sections[i]
		if len(lines) == 0 {
			lines = []string{"(none)"}
		}
		fmt.Fprintf(&b, "%s\n- %s\n\n", heading, strings.Join(lines, "\n- "))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (v *view) taskLines() []string {
	if !v.hasTask {
		return nil
	}
	return []string{v.task.text}
}

func (v *view) progressLines() []string {
	var lines []string
	if through := v.through(); through != "" {
		lines = append(lines, "Read through: "+v.task.label(through))
	}
	if part := v.part(); part != "" {
		lines = append(lines, part)
	}
	if v.notes.known {
		lines = append(lines, "Notes of this job are in "+notePath)
	}
	return lines
}

func (v *view) workLines() []string {
	if !v.hasTask {
		return nil
	}
	return []string{"Going through the files of " + v.task.dir + " in name order"}
}

func (v *view) factLines() []string {
	var lines []string
	for _, f := range v.facts.sorted() {
		lines = append(lines, v.line(f))
	}
	return lines
}

func (v *view) errorLines() []string {
	var lines []string
	for _, name := range v.failed() {
		lines = append(lines, v.task.label(name)+" could not be opened")
	}
	return lines
}

func (v *view) pendingLines() []string {
	if pending := v.pending(); len(pending) > 0 {
		return []string{fmt.Sprintf("%s left to read, up to %s", count(len(pending), "file"), v.task.label(pending[len(pending)-1]))}
	}
	return nil
}

func (v *view) nextLines() []string {
	switch pending := v.pending(); {
	case len(pending) > 0:
		return []string{"Go on with " + v.task.label(pending[0])}
	case v.listed:
		return []string{"Write the report"}
	case v.hasTask:
		return []string{"List the files of " + v.task.dir}
	}
	return nil
}
