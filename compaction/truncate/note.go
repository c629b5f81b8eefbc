package truncate

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// note tells how many messages are left out.
func note(count int) *llm.Message {
	return llm.Text(llm.RoleUser, fmt.Sprintf("[To save room, %d earlier messages of this conversation are left out here. "+
		"What they said cannot be seen any more: look things up again instead of guessing.]", count))
}

var noted = regexp.MustCompile(`^\[To save room, (\d{1,9}) earlier messages `)

// leftOut counts the messages that a run stands for: an earlier note is not one
// itself but tells of others. The text of what a compaction left is read from the log.
func leftOut(ctx context.Context, log session.Access, run []session.Node) (int, error) {
	count := 0
	for _, n := range run {
		told := 1
		if n.Source == session.SourceCheckpoint {
			text, err := textAt(ctx, log, n.Seq)
			if err != nil {
				return 0, fmt.Errorf("truncate: read the message at seq %d: %w", n.Seq, err)
			}
			if m := noted.FindStringSubmatch(text); m != nil {
				told, _ = strconv.Atoi(m[1]) // nine digits fit
			}
		}
		count += told
	}
	return count, nil
}

// textAt is the text of the message at a seq, "" where there is none.
func textAt(ctx context.Context, log session.Access, seq int64) (string, error) {
	for e, err := range log.Events(ctx, session.Query{After: seq - 1, Before: seq + 1, Limit: 1}) {
		if err != nil {
			return "", err
		}
		if m, err := session.Decode[session.Message](e); err == nil && m.Message != nil {
			return m.Message.Text(), nil
		}
	}
	return "", nil
}
