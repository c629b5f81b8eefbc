package compaction

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Refusal classes why a proposal may not be applied.
type Refusal string

const (
	RefusedRevision Refusal = "revision" // made for another revision of the log
	RefusedKind     Refusal = "kind"     // unknown, or it does not go with the edits
	RefusedEdit     Refusal = "edit"     // not exactly one of trim, drop, replace
	RefusedSpan     Refusal = "span"     // not on the surface, out of order, overlapping
	RefusedSystem   Refusal = "system"   // node 0 is covered
	RefusedPair     Refusal = "pair"     // a call is cut from its result
	RefusedTrim     Refusal = "trim"     // not a tool result, or nothing to cut
	RefusedText     Refusal = "text"     // a text is empty, not text, or not a user's
	RefusedSize     Refusal = "size"     // not smaller than before
)

// RefusedError says why a proposal may not be applied. Edit is the index of the
// edit to blame, -1 where none is.
type RefusedError struct {
	Refusal Refusal
	Edit    int
	Detail  string
}

func (e *RefusedError) Error() string {
	if e.Edit < 0 {
		return fmt.Sprintf("proposal refused (%s): %s", e.Refusal, e.Detail)
	}
	return fmt.Sprintf("proposal refused (%s): edit %d: %s", e.Refusal, e.Edit, e.Detail)
}

// RefusalOf returns the Refusal in err's chain, "" if there is none.
func RefusalOf(err error) Refusal {
	var e *RefusedError
	if errors.As(err, &e) {
		return e.Refusal
	}
	return ""
}

// Estimator prices a message in the same tokens as the nodes; nil is llm.Estimate.
type Estimator func(*llm.Message) int

// Check tells whether a proposal may be applied to the surface that nodes list
// (node 0 first) at a revision of the log. The zero Proposal passes. An error is
// a *RefusedError.
func Check(nodes []session.Node, p Proposal, revision int64, estimate Estimator) error {
	if p.IsZero() {
		return nil
	}
	if p.Revision != revision {
		return refused(RefusedRevision, -1, "it was made for revision %d, the log is at %d", p.Revision, revision)
	}
	if err := checkBounds(len(nodes), p); err != nil {
		return err
	}
	c, err := checkEdits(nodes, p.Edits)
	if err != nil {
		return err
	}
	if err := c.kind(p); err != nil {
		return err
	}
	if err := checkTexts(p); err != nil {
		return err
	}
	if p.Kind == KindReset {
		return nil
	}
	before, after := tokens(nodes), After(nodes, p, estimate)
	if after >= before {
		return refused(RefusedSize, -1, "%d tokens would become %d", before, after)
	}
	return nil
}

// CheckEdits tells whether edits fit the surface that nodes list: what holds of a
// proposal's edits and of those of a model call (session.Generate). An error is a
// *RefusedError.
func CheckEdits(nodes []session.Node, edits []Edit) error {
	_, err := checkEdits(nodes, edits)
	return err
}

func checkEdits(nodes []session.Node, edits []Edit) (*checker, error) {
	c := &checker{nodes: nodes, balanced: Boundaries(nodes), at: make(map[int64]int, len(nodes))}
	for i, n := range nodes {
		c.at[n.Seq] = i
	}
	left := len(nodes) - 1
	for i, e := range edits {
		removed, err := c.edit(i, e)
		if err != nil {
			return nil, err
		}
		left -= removed
	}
	if left <= 0 {
		return nil, refused(RefusedSpan, -1, "nothing but node 0 would be left")
	}
	return c, nil
}

type checker struct {
	nodes    []session.Node
	balanced []bool
	at       map[int64]int // seq -> position
	last     int           // position of the last node that an edit touched; 0 = none
}

// edit checks one edit and returns by how many nodes it shortens the surface.
func (c *checker) edit(i int, e Edit) (removed int, err error) {
	switch {
	case e.Trim != nil && e.Drop == nil && e.Replace == nil:
		return 0, c.trim(i, *e.Trim)
	case e.Drop != nil && e.Trim == nil && e.Replace == nil:
		return c.span(i, *e.Drop)
	case e.Replace != nil && e.Trim == nil && e.Drop == nil:
		if len(e.Replace.Messages) == 0 {
			return 0, refused(RefusedText, i, "a replacement has no message")
		}
		for _, m := range e.Replace.Messages {
			if err := checkMessage(i, m); err != nil {
				return 0, err
			}
		}
		removed, err = c.span(i, e.Replace.Span)
		return removed - len(e.Replace.Messages), err
	}
	return 0, refused(RefusedEdit, i, "it must be exactly one of trim, drop and replace")
}

func (c *checker) span(i int, s Span) (int, error) {
	from, okFrom := c.at[s.From]
	to, okTo := c.at[s.To]
	switch {
	case !okFrom || !okTo:
		return 0, refused(RefusedSpan, i, "%d..%d is not on the surface", s.From, s.To)
	case from > to:
		return 0, refused(RefusedSpan, i, "%d..%d is not in surface order", s.From, s.To)
	case from == 0:
		return 0, refused(RefusedSystem, i, "%d is node 0, which is the host's", s.From)
	case from <= c.last:
		return 0, refused(RefusedSpan, i, "%d..%d begins before the end of an earlier edit", s.From, s.To)
	case !c.balanced[from] || !c.balanced[to+1]:
		return 0, refused(RefusedPair, i, "%d..%d cuts a tool call from its result", s.From, s.To)
	}
	c.last = to
	return to - from + 1, nil
}

func (c *checker) trim(i int, t Trim) error {
	at, ok := c.at[t.Node]
	switch {
	case !ok:
		return refused(RefusedSpan, i, "%d is not on the surface", t.Node)
	case at <= c.last:
		return refused(RefusedSpan, i, "%d stands before the end of an earlier edit, or is node 0", t.Node)
	case c.nodes[at].Role != llm.RoleTool:
		return refused(RefusedTrim, i, "%d is a %s message, not a tool result", t.Node, c.nodes[at].Role)
	case t.Head < 0 || t.Tail < 0:
		return refused(RefusedTrim, i, "head %d and tail %d must not be negative", t.Head, t.Tail)
	case t.Head+t.Tail+utf8.RuneCountInString(TrimMarker) >= c.nodes[at].Chars:
		return refused(RefusedTrim, i, "%d has only %d characters", t.Node, c.nodes[at].Chars)
	}
	c.last = at
	return nil
}

// kind checks that the proposal's kind says what its edits do.
func (c *checker) kind(p Proposal) error {
	switch p.Kind {
	case KindTrim:
		for i, e := range p.Edits {
			if e.Trim == nil {
				return refused(RefusedKind, i, "a proposal of kind trim may only trim")
			}
		}
	case KindSummary:
	case KindReset:
		r := p.Edits[0].Replace
		whole := Span{From: c.nodes[1].Seq, To: c.nodes[len(c.nodes)-1].Seq}
		if len(p.Edits) != 1 || r == nil || r.Span != whole {
			return refused(RefusedKind, 0, "a reset replaces %d..%d at once", whole.From, whole.To)
		}
	default:
		return refused(RefusedKind, -1, "%q is none of trim, summary, reset", p.Kind)
	}
	return nil
}

func checkMessage(i int, m *llm.Message) error {
	if m == nil || m.Role != llm.RoleUser || m.CallID != "" {
		return refused(RefusedText, i, "a replacement must be a user message")
	}
	for _, b := range m.Blocks {
		if b.Kind != llm.BlockText || b.Call != nil {
			return refused(RefusedText, i, "a replacement must be text, not %s", b.Kind)
		}
	}
	if strings.TrimSpace(m.Text()) == "" {
		return refused(RefusedText, i, "a replacement is empty")
	}
	return checkText(i, "a replacement", m.Text())
}

// checkTexts checks what a proposal says besides its edits.
func checkTexts(p Proposal) error {
	texts := append([]string{p.Boot}, p.Steer...)
	for _, text := range p.Steer {
		if strings.TrimSpace(text) == "" {
			return refused(RefusedText, -1, "a message that it steers is empty")
		}
	}
	if p.Refresh {
		for _, s := range p.Sections {
			if s.ID == "" {
				return refused(RefusedText, -1, "a section has no id")
			}
			texts = append(texts, s.Text)
		}
		for _, m := range p.Marks {
			if m.ID == "" || m.Remaining <= 0 {
				return refused(RefusedText, -1, "mark %q needs an id and a positive number of tokens", m.ID)
			}
			texts = append(texts, m.Text)
		}
	}
	for _, t := range texts {
		if err := checkText(-1, "a text of the proposal", t); err != nil {
			return err
		}
	}
	return nil
}

func checkText(i int, what, text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return refused(RefusedText, i, "%s is not valid UTF-8 without NUL", what)
	}
	return nil
}

func refused(r Refusal, edit int, format string, args ...any) *RefusedError {
	return &RefusedError{Refusal: r, Edit: edit, Detail: fmt.Sprintf(format, args...)}
}
