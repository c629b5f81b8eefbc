package scripted

import (
	"fmt"
	"slices"
)

// through is the greatest name up to which no file is left to read.
func (v *view) through() string {
	top := v.top()
	unfinished := ""
	for name, f := range v.files {
		if !f.complete && f.errors < maxErrors && (unfinished == "" || name < unfinished) {
			unfinished = name
		}
	}
	if unfinished == "" || top < unfinished {
		return top
	}
	below := ""
	for name, f := range v.files {
		if f.complete && name < unfinished {
			below = max(below, name)
		}
	}
	for _, name := range []string{v.said, v.notes.through} {
		if name < unfinished {
			below = max(below, name)
		}
	}
	return below
}

// part tells of the first file that is read in part, in the words in which scan
// finds it again; "" where there is none.
func (v *view) part() string {
	first := ""
	for name, f := range v.files {
		if !f.complete && f.next > 0 && (first == "" || name < first) {
			first = name
		}
	}
	if first == "" {
		return ""
	}
	return v.inPart(first)
}

func (v *view) inPart(name string) string {
	return fmt.Sprintf("Read in part: %s, on from line %d", v.task.label(name), v.files[name].next)
}

// top is the greatest name of which there is evidence that it was read.
func (v *view) top() string {
	top := v.said
	if !v.notes.known {
		top = max(top, v.hearsay)
	}
	for name, f := range v.files {
		if f.complete {
			top = max(top, name)
		}
	}
	return top
}

// pending are the listed files that are left to read, in order.
func (v *view) pending() []string {
	top := v.top()
	return slices.DeleteFunc(slices.Clone(v.listing), func(name string) bool {
		if f := v.files[name]; f != nil {
			return f.complete || f.errors >= maxErrors
		}
		return name <= top
	})
}

// failed are the files that could not be read.
func (v *view) failed() []string {
	return slices.DeleteFunc(slices.Clone(v.listing), func(name string) bool {
		f := v.files[name]
		return f == nil || f.complete || f.errors < maxErrors
	})
}

// withoutFact are the listed files of which no finding is in sight.
func (v *view) withoutFact() []string {
	has := map[string]bool{}
	for _, f := range v.facts.all {
		has[f.file] = true
	}
	return slices.DeleteFunc(slices.Clone(v.listing), func(name string) bool { return has[name] })
}

// lost tells that window after window began without a trace of the last one.
func (v *view) lost() bool { return v.window > 3 && v.top() == "" && !v.notes.known }
