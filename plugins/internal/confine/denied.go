package confine

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// What the model is to do after a denial (T17).
const (
	NextRepeat = "Do not try another way. If the task needs this, repeat the exact command once with file_policy \"full\" and a justification: the person is asked."
	NextStop   = "Do not try another way. Stop, and say what you would have done and why the task needs it."
)

var refusal = regexp.MustCompile(`(?i)permission denied|read-only file system|invalid cross-device link|\b(?:EACCES|EROFS|EXDEV)\b`)

// Refused tells whether what a command printed says that the system would not let it.
func Refused(printed string) bool { return refusal.MatchString(printed) }

// Denied is what the model reads where the bounds stood in the way, with what it is to
// do next; "" where nothing is bound.
func (b Bounds) Denied(next string) string {
	var lines []string
	if b.Files != session.FilesFull {
		lines = append(lines, fmt.Sprintf("[file policy: access denied under %s]", b.Files))
	}
	if b.Offline {
		lines = append(lines, "[network policy: connections are not allowed]")
	}
	if lines == nil {
		return ""
	}
	return strings.Join(append(lines, next), "\n")
}
