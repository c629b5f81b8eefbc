package compaction

import (
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// TrimMarker stands where the middle of a tool result was cut out.
const TrimMarker = "\n\n[... the middle of this result was cut out to save room ...]\n\n"

// TrimText is text with everything between its first head and its last tail code
// points replaced by TrimMarker. Text that would not become shorter is returned
// as it is.
func TrimText(text string, head, tail int) string {
	if head+tail+utf8.RuneCountInString(TrimMarker) >= utf8.RuneCountInString(text) {
		return text
	}
	from := 0
	for range head {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	to := len(text)
	for range tail {
		_, size := utf8.DecodeLastRuneInString(text[:to])
		to -= size
	}
	return text[:from] + TrimMarker + text[to:]
}

// After estimates the tokens of the surface once a proposal that passes Check is
// applied; node 0 is priced as it stands.
func After(nodes []session.Node, p Proposal, estimate Estimator) int {
	if estimate == nil {
		estimate = llm.Estimate
	}
	at := make(map[int64]int, len(nodes))
	for i, n := range nodes {
		at[n.Seq] = i
	}
	total := tokens(nodes)
	for _, e := range p.Edits {
		switch {
		case e.Trim != nil:
			n := nodes[at[e.Trim.Node]]
			total -= n.Tokens - trimmed(n, *e.Trim)
		case e.Drop != nil:
			total -= tokens(nodes[at[e.Drop.From] : at[e.Drop.To]+1])
		case e.Replace != nil:
			total -= tokens(nodes[at[e.Replace.Span.From] : at[e.Replace.Span.To]+1])
			for _, m := range e.Replace.Messages {
				total += estimate(m)
			}
		}
	}
	return total
}

// trimmed prices a node by the share of its text that a trim leaves.
func trimmed(n session.Node, t Trim) int {
	if n.Chars <= 0 {
		return n.Tokens
	}
	left := (n.Tokens*(t.Head+t.Tail) + n.Chars - 1) / n.Chars
	return min(n.Tokens, left+llm.EstimateText(TrimMarker))
}

func tokens(nodes []session.Node) int {
	total := 0
	for _, n := range nodes {
		total += n.Tokens
	}
	return total
}
