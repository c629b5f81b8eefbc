package openai

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
)

// counting encodes the requests of one conversation and tells how many messages each
// took: a message is spoiled once it was sent, which nobody else may do, so that one
// that is encoded again shows.
type counting struct {
	t        *testing.T
	e        *encoder
	messages []*llm.Message
	sent     string // the messages of the last request of the main line
	n        int
}

const spoiled = "spoiled"

func newCounting(t *testing.T, e *encoder) *counting {
	c := &counting{t: t, e: e, messages: conversation("s", 10)}
	c.send(2)
	return c
}

// step goes on by an answer with a call, its result and what was steered meanwhile.
func (c *counting) step() {
	c.n++
	c.messages = append(c.messages, exchange(fmt.Sprintf("call%d", c.n))...)
	if c.n%3 == 0 {
		c.messages = append(c.messages, llm.Text(llm.RoleUser, fmt.Sprintf("steered %d", c.n)))
	}
}

// whole moves a cut behind the results of the call before it.
func (c *counting) whole(at int) int {
	for at < len(c.messages) && c.messages[at].Role == llm.RoleTool {
		at++
	}
	return at
}

// send sends the main line, in which so many messages are new.
func (c *counting) send(fresh int) {
	c.t.Helper()
	known := len(c.messages) - fresh
	p, err := c.e.encode(c.messages, nil, true)
	if err != nil {
		c.t.Fatal(err)
	}
	got := string(bytes.Join(p.messages, nil))
	if again := strings.Count(got, spoiled); again != 0 {
		c.t.Fatalf("a request of %d messages encoded %d of its %d old ones again", len(c.messages), again, known)
	}
	if !strings.HasPrefix(got, c.sent) {
		c.t.Fatalf("a request of %d messages does not begin with the one before", len(c.messages))
	}
	c.sent = got
	for _, m := range c.messages[known:] {
		m.Blocks = []llm.Block{{Kind: llm.BlockText, Text: spoiled, Call: m.Blocks[0].Call}}
		if m.Role == llm.RoleAssistant {
			m.Blocks[0].Kind = llm.BlockToolCall
			m.Blocks[0].Call = &llm.ToolCall{ID: m.Blocks[0].Call.ID, Name: spoiled, Arguments: "{}"}
		}
	}
}

// aside sends a call beside the main line: a prefix of it and one message more.
func (c *counting) aside(until int) {
	c.t.Helper()
	p, err := c.e.encode(append(c.messages[:until:until], llm.Text(llm.RoleUser, "summarise")), nil, false)
	if err != nil {
		c.t.Fatal(err)
	}
	got := string(bytes.Join(p.messages, nil))
	old, ok := strings.CutSuffix(got, `,{"role":"user","content":"summarise"}`)
	if c.e.apart {
		old = strings.TrimSuffix(old, `,{"role":"assistant","content":"Understood."}`)
	}
	if !ok || strings.Contains(got, spoiled) || !strings.HasPrefix(c.sent, old) {
		c.t.Fatalf("a call beside a main line of %d messages encoded some of it again", len(c.messages))
	}
}

// Each message of a session is encoded once, over hundreds of steps, with calls of a
// strategy beside it; so it is where users are kept apart.
func TestM23_EachMessageIsEncodedOnce(t *testing.T) {
	t.Parallel()
	for _, apart := range []bool{false, true} {
		c := newCounting(t, &encoder{quirk: &quirks[0], bound: maxCached, apart: apart})
		for range 400 {
			before := len(c.messages)
			c.step()
			c.send(len(c.messages) - before)
			if c.n%7 == 0 {
				c.aside(len(c.messages))
				c.aside(c.whole(len(c.messages) / 2))
			}
		}
	}
}

// A trim in the middle, an undo and a session that branches off copy what they have
// in common with the old line and encode what follows it.
func TestM23_ABranchEncodesWhatFollowsTheFork(t *testing.T) {
	t.Parallel()
	for _, apart := range []bool{false, true} {
		c := newCounting(t, &encoder{quirk: &quirks[0], bound: maxCached, apart: apart})
		for range 300 {
			before := len(c.messages)
			c.step()
			c.send(len(c.messages) - before)
		}
		trunk, sent := c.messages, c.sent
		for _, at := range []int{len(trunk), 400, 2, 51} {
			c.messages = trunk
			at = c.whole(at)
			c.messages, c.sent = trunk[:at:at], ""
			for range 20 {
				before := len(c.messages)
				c.step()
				c.send(len(c.messages) - before)
			}
			common := 0
			for common < len(sent) && common < len(c.sent) && sent[common] == c.sent[common] {
				common++
			}
			if common < at*20 {
				t.Errorf("the branch at message %d has %d bytes in common with the trunk", at, common)
			}
		}
		c.messages, c.sent = trunk, sent // the trunk is as it was
		before := len(trunk)
		c.step()
		c.send(len(c.messages) - before)
	}
}
