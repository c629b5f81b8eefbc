package guards

import (
	"crypto/sha256"
	"slices"
)

// longestCycle is the longest pattern of calls that is seen as a cycle.
const longestCycle = 3

// call is one call, as far as the chain remembers it.
type call struct {
	sum     [sha256.Size]byte // of the name and the canonical arguments
	name    string
	preview string // of the canonical arguments
}

func newCall(name, arguments string) call {
	text := canonical(arguments)
	return call{sum: sha256.Sum256([]byte(name + "\x00" + text)), name: name, preview: preview(text, previewChars)}
}

// chain follows the calls of one session. The zero value has seen none.
type chain struct {
	recent []call // the newest ones, at most longestCycle
	// same[p] counts the newest calls in a row that equal the one p before them.
	same [longestCycle + 1]int
}

// add takes one more call. Where it completes a round of a cycle, that is the
// pattern and how many times in a row it was gone through; rounds is 0 elsewhere.
// One call over and over is a cycle of length one. Of several the one gone through
// most often counts.
func (c *chain) add(next call) (cycle []call, rounds int) {
	for p := 1; p <= longestCycle; p++ {
		if len(c.recent) >= p && c.recent[len(c.recent)-p].sum == next.sum {
			c.same[p]++
		} else {
			c.same[p] = 0
		}
	}
	c.recent = append(c.recent, next)
	if over := len(c.recent) - longestCycle; over > 0 {
		c.recent = slices.Delete(c.recent, 0, over)
	}
	for p := 1; p <= longestCycle; p++ {
		if through := c.same[p]/p + 1; c.same[p] > 0 && c.same[p]%p == 0 && through > rounds {
			cycle, rounds = slices.Clone(c.recent[len(c.recent)-p:]), through
		}
	}
	return cycle, rounds
}

// reset forgets all calls.
func (c *chain) reset() { *c = chain{} }
