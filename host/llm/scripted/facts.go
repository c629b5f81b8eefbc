package scripted

import (
	"cmp"
	"slices"
	"strings"
)

// fact is a line that starts with the task's prefix.
type fact struct {
	file  string // its name, "" where the text around it names none
	text  string
	exact bool // from the file itself, so certainly whole
}

func (f fact) key() string { return f.file + "\x00" + f.text }

// facts are the findings in sight, each once.
type facts struct {
	all  []fact
	seen map[string]int // key to index
}

func (s *facts) add(f fact) {
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	if i, ok := s.seen[f.key()]; ok {
		s.all[i].exact = s.all[i].exact || f.exact
		return
	}
	s.seen[f.key()] = len(s.all)
	s.all = append(s.all, f)
}

// sorted returns the findings in file order, those without a file last. A copy
// that was cut short, or whose file is not named, gives way to the whole one.
func (s *facts) sorted() []fact {
	var out []fact
	for _, f := range s.all {
		if !slices.ContainsFunc(s.all, func(g fact) bool { return g.covers(f) }) {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b fact) int {
		if (a.file == "") != (b.file == "") {
			return cmp.Compare(len(b.file), len(a.file))
		}
		return cmp.Compare(a.file, b.file)
	})
	return out
}

// covers tells whether f is a lesser copy of g.
func (g fact) covers(f fact) bool {
	if g.key() == f.key() || f.exact {
		return false
	}
	stem := strings.TrimRight(f.text, ".… ")
	switch {
	case g.file == f.file:
		return len(g.text) > len(stem) && strings.HasPrefix(g.text, stem) && (len(g.text) > len(f.text) || g.exact)
	case f.file == "":
		return strings.HasPrefix(g.text, stem)
	}
	return false
}

// factHead is what may stand before a finding on its line: list marks, quoting,
// line numbers and a path.
var factHead = pattern("^[\\s>|*•–—-]*(?:\\d+[.:)|]?\\s+)?[\\s>|*•–—(\\[\"'`-]*" +
	"(?:(" + inPath + "*[/.]" + inPath + "*)[\\s\"'`)\\]:,|–—\\d-]*)?$")

// findFacts collects the findings in a text about files: notes, checkpoints,
// messages. A finding belongs to the file that its line names, else to the file
// named last above it.
func (v *view) findFacts(text string) []fact {
	var found []fact
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		at := strings.Index(line, v.task.prefix)
		if at < 0 {
			if names := v.mentions(line); len(names) > 0 && !v.readThrough.MatchString(line) {
				last = names[0]
			}
			continue
		}
		head := factHead().FindStringSubmatch(line[:at])
		if head == nil || strings.Trim(line[at+len(v.task.prefix):], " \"'`“”.,") == "" {
			continue
		}
		file := last
		if head[1] != "" {
			name, ok := v.task.name(unescape(head[1]))
			if !ok && strings.Contains(head[1], "/") {
				continue // of another directory
			}
			file = cmp.Or(name, head[1])
		}
		found = append(found, fact{file: file, text: line[at:]})
	}
	return found
}
