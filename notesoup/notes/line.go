package notes

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxResultBytes bounds every result, its first line included.
const MaxResultBytes = 32 << 10

// Line is the first line of a result: what was done to what, then key=value pairs
// in a fixed order. It is for the model and for programs alike.
type Line struct{ b strings.Builder }

// OK begins the line of a call that worked; subject may be "".
func OK(tool, subject string) *Line {
	l := &Line{}
	l.b.WriteString("ok " + tool)
	if subject != "" {
		l.b.WriteString(" " + quoted(subject))
	}
	return l
}

// Put adds a pair.
func (l *Line) Put(key string, value any) *Line {
	fmt.Fprintf(&l.b, " %s=%s", key, quoted(fmt.Sprint(value)))
	return l
}

// String is the line without a line feed.
func (l *Line) String() string { return l.b.String() }

// quoted is s, in quotes where it would not stay one word.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n\"=") {
		return strconv.Quote(s)
	}
	return s
}
