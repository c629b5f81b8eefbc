package summary

import (
	"context"
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/session"
)

const (
	maxUserTokens = 20000
	userShare     = 20   // of the window
	leastWords    = 64   // tokens; less than that of a message is not worth its place
	mostEvents    = 4096 // that are read from either end of the log
	cutMark       = "\n[... the middle of this message was left out ...]\n"
	gapMark       = "[... messages in between were left out ...]"
)

// userTokens bounds what is kept of the user's messages, for a span of so many tokens:
// they must not use up what condensing it gains.
func (s *Strategy) userTokens(window, span int) int {
	bound := maxUserTokens
	if window > 0 {
		bound = min(bound, window/userShare)
	}
	if s.config.UserTokens != nil {
		bound = *s.config.UserTokens
	}
	return min(bound, span/2)
}

// words returns what the user said, oldest first, within a bound of tokens: the first
// message and the latest ones. It is read from the log, so that it outlasts any number
// of compactions; what still stands on the surface, in tail, is left out.
func words(ctx context.Context, access session.Access, tail []session.Node, bound int) ([]string, error) {
	if bound < leastWords {
		return nil, nil
	}
	first, err := firstWords(ctx, access)
	if err != nil {
		return nil, err
	}
	stands := make(map[int64]bool, len(tail))
	for _, n := range tail {
		stands[n.Seq] = true
	}
	var task string
	left := bound
	if first.seq > 0 && !stands[first.seq] {
		task = message(first.text, bound/2)
		left -= estimate(task)
	}
	latest, whole, err := latestWords(ctx, access, first.seq, stands, left)
	if err != nil {
		return nil, err
	}
	var all []string
	if task != "" {
		all = append(all, task)
	}
	if !whole {
		all = append(all, gapMark)
	}
	for i := len(latest) - 1; i >= 0; i-- {
		all = append(all, latest[i])
	}
	return all, nil
}

// spawned tells whether another agent spawned the session, so that what stands in its
// log as said by the user came from there.
func spawned(ctx context.Context, access session.Access) (bool, error) {
	for e, err := range access.Events(ctx, session.Query{Kinds: []session.Kind{session.KindSessionCreated}, Limit: 1}) {
		if err != nil {
			return false, fmt.Errorf("summary: read how the session began: %w", err)
		}
		c, err := session.Decode[session.Created](e)
		if err != nil {
			return false, fmt.Errorf("summary: read event %d: %w", e.Seq, err)
		}
		return c.Parent != "", nil
	}
	return false, nil
}

// said is a message of the user; seq 0 is none.
type said struct {
	seq  int64
	text string
}

// spoken reads an event; ok tells whether it is a message of the user and of nobody else.
func spoken(e session.Event) (said, bool, error) {
	m, err := session.Decode[session.Message](e)
	if err != nil {
		return said{}, false, fmt.Errorf("summary: read event %d: %w", e.Seq, err)
	}
	ok := m.Message != nil && (m.Source == session.SourceOwner || m.Source == session.SourceSteer)
	if !ok {
		return said{}, false, nil
	}
	return said{e.Seq, m.Message.Text()}, true, nil
}

func firstWords(ctx context.Context, access session.Access) (said, error) {
	q := session.Query{Kinds: []session.Kind{session.KindMessageUser}, Limit: mostEvents}
	for e, err := range access.Events(ctx, q) {
		if err != nil {
			return said{}, fmt.Errorf("summary: read the first message of the user: %w", err)
		}
		if m, ok, err := spoken(e); ok || err != nil {
			return m, err
		}
	}
	return said{}, nil
}

// latestWords reads backwards to the first message, newest first, while there is room;
// to the beginning of the log where first is 0.
// whole tells that nothing was left out.
func latestWords(ctx context.Context, access session.Access, first int64, stands map[int64]bool, left int) (latest []string, whole bool, err error) {
	q := session.Query{Kinds: []session.Kind{session.KindMessageUser}, After: first, Reverse: true, Limit: mostEvents}
	read := 0
	for e, err := range access.Events(ctx, q) {
		if err != nil {
			return nil, false, fmt.Errorf("summary: read what the user said: %w", err)
		}
		read++
		m, ok, err := spoken(e)
		if err != nil {
			return nil, false, err
		}
		if !ok || stands[m.seq] {
			continue
		}
		if left < leastWords {
			return latest, false, nil
		}
		text := message(m.text, left)
		latest, left = append(latest, text), left-estimate(text)
	}
	return latest, read < mostEvents, nil
}

// message fences what the user said; a long message loses its middle.
func message(text string, bound int) string {
	const open, end = "<user-message>\n", "\n</user-message>"
	return open + cutMiddle(fenced(text), bound-estimate(open+end)) + end
}

// cutMiddle shortens a text to so many tokens: two thirds of what stays are its
// beginning, one its end.
func cutMiddle(text string, bound int) string {
	if estimate(text) <= bound {
		return text
	}
	cut := func(n int) string { return ends(text, n-n/3, n/3) }
	most := min(utf8.RuneCountInString(text), 3*max(bound, 0))
	n := sort.Search(most, func(i int) bool { return estimate(cut(i+1)) > bound })
	return cut(n)
}

// ends is the first head and the last tail code points of a text.
func ends(text string, head, tail int) string {
	from, to := 0, len(text)
	for range head {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	for range tail {
		_, size := utf8.DecodeLastRuneInString(text[:to])
		to -= size
	}
	return text[:from] + cutMark + text[to:]
}
