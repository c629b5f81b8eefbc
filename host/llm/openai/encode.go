package openai

import (
	"bytes"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/tureen-host/tureen/host/llm"
)

// Bounds of what a Client's encoder keeps: bytes of all lineages together, and
// lineages that begin with one and the same message.
const (
	maxCached = 64 << 20
	maxForks  = 4
)

// encoder turns requests into bytes and remembers them, so that a follow-up
// request encodes its new messages only and its common prefix keeps every byte
// (M23). Messages are known by their address.
//
// A lineage is one conversation from its first message on. It is dropped with
// that message: a session that is closed or reset leaves nothing behind. The
// bytes of all lineages are bounded, the longest unused goes first.
// A conversation that departs from its lineage (an edit, an undo) starts one of
// its own with the common prefix copied, not encoded again. Requests that are
// not the session's main line (a compaction) use a lineage and leave it as it was.
type encoder struct {
	quirk *Quirk
	bound int  // of cached
	apart bool // no two users may meet: something of ours stands between them

	mu       sync.Mutex
	lineages map[weak.Pointer[llm.Message]][]*lineage // by first message
	cached   int
	clock    int
}

// lineage holds the encoded messages of one conversation, comma-joined. Bytes
// below len(bytes) never change: a request in flight reads them unlocked.
type lineage struct {
	rest  []*llm.Message // all messages but the first, which is the weak key
	ends  []int          // ends[i] is the length of bytes after i messages
	bytes []byte
	tools []llm.Tool
	decls []byte        // the encoded tools
	valid llm.Validator // knows the messages
	used  int           // the encoder's clock at the last use
}

// payload is what follows the head of a body: declarations and messages.
type payload struct {
	tools    []byte // a JSON array, nil = no tools
	messages [][]byte
}

// encode validates a conversation and returns its wire bytes, at a cost that goes
// by what is new in it. keep tells that its next request will continue it.
func (e *encoder) encode(messages []*llm.Message, tools []llm.Tool, keep bool) (payload, error) {
	if len(messages) == 0 {
		return payload{}, llm.Validate(messages)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key := weak.Make(messages[0])
	l, common := e.find(key, messages)
	decls, err := l.declare(tools)
	if err != nil {
		return payload{}, invalid("%v", err)
	}
	if keep && common < l.length() {
		l = l.fork(common)
	}
	if err := l.validate(messages, common, keep); err != nil {
		return payload{}, err
	}
	if !keep {
		own := &lineage{ends: []int{0}}
		own.extend(e, messages[common:], l.spoke(messages, common))
		return payload{decls, [][]byte{l.bytes[:l.ends[common]], own.bytes}}, nil
	}
	before := cap(l.bytes)
	l.extend(e, messages[common:], l.spoke(messages, common))
	l.tools, l.decls = slices.Clone(tools), decls
	e.remember(key, messages[0], l, cap(l.bytes)-before)
	return payload{decls, [][]byte{l.bytes}}, nil
}

// find returns the lineage with the longest common prefix and the number of
// messages in it; a fresh one where nothing is in common.
func (e *encoder) find(key weak.Pointer[llm.Message], messages []*llm.Message) (*lineage, int) {
	best, common := &lineage{ends: []int{0}}, 0
	for _, l := range e.lineages[key] {
		n := 0
		for n < len(l.rest) && n+1 < len(messages) && l.rest[n] == messages[n+1] {
			n++
		}
		if n+1 > common {
			best, common = l, n+1
		}
	}
	return best, common
}

// remember enters a lineage, or notes its use and growth, and keeps the bounds.
func (e *encoder) remember(key weak.Pointer[llm.Message], first *llm.Message, l *lineage, grown int) {
	if e.lineages == nil {
		e.lineages = map[weak.Pointer[llm.Message]][]*lineage{}
	}
	known, ok := e.lineages[key]
	if !ok {
		runtime.AddCleanup(first, e.forget, key)
	}
	if l.used == 0 {
		known, grown = append(known, l), cap(l.bytes)
	}
	e.clock++
	l.used = e.clock
	e.lineages[key] = known
	e.cached += grown
	if len(known) > maxForks {
		e.drop(key, oldest(known))
	}
	for e.cached > e.bound && e.evict(l) {
	}
}

// evict drops the lineage that was not used for longest, but never current.
func (e *encoder) evict(current *lineage) bool {
	var found *lineage
	var at weak.Pointer[llm.Message]
	for key, known := range e.lineages {
		if l := oldest(known); l != nil && l != current && (found == nil || l.used < found.used) {
			found, at = l, key
		}
	}
	if found != nil {
		e.drop(at, found)
	}
	return found != nil
}

// drop leaves the key in place: its cleanup is set once.
func (e *encoder) drop(key weak.Pointer[llm.Message], gone *lineage) {
	e.cached -= cap(gone.bytes)
	e.lineages[key] = slices.DeleteFunc(e.lineages[key], func(l *lineage) bool { return l == gone })
}

func oldest(known []*lineage) *lineage {
	if len(known) == 0 {
		return nil
	}
	return slices.MinFunc(known, func(a, b *lineage) int { return a.used - b.used })
}

// forget drops all lineages of a first message that is gone.
func (e *encoder) forget(key weak.Pointer[llm.Message]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lineages[key] {
		e.cached -= cap(l.bytes)
	}
	delete(e.lineages, key)
}

func (l *lineage) length() int { return len(l.ends) - 1 }

// validate checks a conversation that has so many messages in common with the
// lineage: what follows them, if they are the whole lineage.
func (l *lineage) validate(messages []*llm.Message, common int, keep bool) error {
	switch n := l.valid.Known(); {
	case keep: // a fork knows nothing yet
		return l.valid.Extend(messages[n:])
	case common == n:
		return l.valid.Check(messages[n:])
	}
	return llm.Validate(messages)
}

// spoke is the role of the last of n messages that says something on the wire, ""
// where none does.
func (l *lineage) spoke(messages []*llm.Message, n int) llm.Role {
	for i := n - 1; i >= 0; i-- {
		if l.ends[i+1] > l.ends[i] {
			return messages[i].Role
		}
	}
	return ""
}

// extend encodes more messages behind one of role last.
func (l *lineage) extend(e *encoder, messages []*llm.Message, last llm.Role) {
	for _, m := range messages {
		before := len(l.bytes)
		if last != "" {
			l.bytes = append(l.bytes, ',')
		}
		if e.apart && meets(last, m.Role) {
			l.bytes = append(e.quirk.appendMessage(l.bytes, between), ',')
		}
		start := len(l.bytes)
		l.bytes = e.quirk.appendMessage(l.bytes, m)
		if len(l.bytes) == start {
			l.bytes = l.bytes[:before]
		} else {
			last = m.Role
		}
		if len(l.ends) > 1 {
			l.rest = append(l.rest, m)
		}
		l.ends = append(l.ends, len(l.bytes))
	}
}

// fork copies the first n messages, n > 0, with room to grow.
func (l *lineage) fork(n int) *lineage {
	return &lineage{
		rest:  slices.Clone(l.rest[:n-1]),
		ends:  slices.Clone(l.ends[:n+1]),
		bytes: slices.Grow(bytes.Clone(l.bytes[:l.ends[n]]), 4096),
		tools: l.tools, decls: l.decls,
	}
}

// declare encodes tools, or finds them unchanged.
func (l *lineage) declare(tools []llm.Tool) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	same := func(a, b llm.Tool) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
	}
	if l.decls != nil && slices.EqualFunc(l.tools, tools, same) {
		return l.decls, nil
	}
	return appendTools(nil, tools)
}
