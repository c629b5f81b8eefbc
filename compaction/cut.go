package compaction

import "github.com/tureen-host/tureen/host/session"

// BalancedTail finds where a surface may be cut so that at least keepTokens of
// its newest nodes stay (C5): nodes[1:cut] leave, nodes[cut:] stay. The cut is
// the latest one that keeps enough and splits no call from its result; node 0
// is on neither side. ok is false where there is nothing to leave.
func BalancedTail(nodes []session.Node, keepTokens int) (cut int, ok bool) {
	cut = len(nodes)
	for kept := 0; cut > 0 && kept < keepTokens; {
		cut--
		kept += nodes[cut].Tokens
	}
	balanced := Boundaries(nodes)
	for cut > 1 && !balanced[cut] {
		cut--
	}
	return cut, cut > 1
}

// Balanced tells whether every call on the surface has its result.
func Balanced(nodes []session.Node) bool {
	return Boundaries(nodes)[len(nodes)]
}

// Boundaries tells for each place before nodes[i], and for the end, whether no
// call stands before it whose result stands after it or is missing.
func Boundaries(nodes []session.Node) []bool {
	balanced := make([]bool, len(nodes)+1)
	open := map[string]bool{}
	for i, n := range nodes {
		balanced[i] = len(open) == 0
		for _, id := range n.CallIDs {
			open[id] = true
		}
		if n.CallID != "" {
			delete(open, n.CallID)
		}
	}
	balanced[len(nodes)] = len(open) == 0
	return balanced
}
