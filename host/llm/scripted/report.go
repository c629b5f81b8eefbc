package scripted

import (
	"fmt"
	"strings"
)

// line is a finding with its file in front, as notes, checkpoints and the report
// have it.
func (v *view) line(f fact) string {
	if f.file == "" {
		return f.text
	}
	return v.task.label(f.file) + ": " + f.text
}

// report is the answer to the task: only findings that stand in the request.
func (v *view) report() string {
	var b strings.Builder
	found := v.facts.sorted()
	fmt.Fprintf(&b, "Report on %s\n\n%s starting with %q in %s.\n", v.task.dir, count(len(found), "line"), v.task.prefix, count(len(v.listing), "file"))
	if len(found) > 0 {
		b.WriteString("\n")
	}
	for _, f := range found {
		fmt.Fprintf(&b, "- %s\n", v.line(f))
	}
	for _, remark := range []struct {
		text  string
		names []string
	}{
		{"No such line is in sight of", v.withoutFact()},
		{"Could not be read", v.failed()},
	} {
		if len(remark.names) > 0 {
			fmt.Fprintf(&b, "\n%s: %s.\n", remark.text, v.join(remark.names))
		}
	}
	if v.cutList != "" {
		fmt.Fprintf(&b, "\nThe listing was not whole: %s\n", v.cutList)
	}
	return strings.TrimSpace(b.String())
}

func (v *view) join(names []string) string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = v.task.label(name)
	}
	return strings.Join(paths, ", ")
}

func (v *view) unable() string {
	return fmt.Sprintf("I cannot work on %s: it takes the tools glob and read, and they are not offered or failed twice. Findings in sight: %d.", v.task.dir, len(v.facts.sorted()))
}

func (v *view) giveUp() string {
	return fmt.Sprintf("I stop here: this is window %d and nothing in it shows which files of %s were read before, so I would start over for ever. A strategy that keeps notes or a summary lets me finish.", v.window, v.task.dir)
}

var longWord = pattern(`[\pL\pN][\pL\pN-]{3,}`)

// brief answers an ordinary question from what is in sight: the findings that
// share the most words with it.
func (v *view) brief() string {
	found := v.facts.sorted()
	if len(found) == 0 {
		return "I see nothing here that I could answer from. I am a rule-based demonstration agent; ask me to: " + v.task.canonical()
	}
	var best []string
	most := 1
	for _, f := range found {
		line := v.line(f)
		switch shared := v.shared(line); {
		case shared > most:
			best, most = []string{line}, shared
		case shared == most:
			best = append(best, line)
		}
	}
	if len(best) == 0 {
		return fmt.Sprintf("I see %s, none of which shares a word with your message.", count(len(found), "finding"))
	}
	return "What I see about that:\n\n- " + strings.Join(best, "\n- ")
}

// shared counts the longer words of the question that stand in a line.
func (v *view) shared(line string) int {
	line = strings.ToLower(line)
	everywhere := strings.ToLower(v.task.prefix + v.task.dir)
	n := 0
	for _, word := range longWord().FindAllString(strings.ToLower(v.question), -1) {
		if strings.Contains(line, word) && !strings.Contains(everywhere, word) {
			n++
		}
	}
	return n
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
