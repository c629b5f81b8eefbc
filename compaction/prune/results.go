// Package prune makes room by cutting old tool results: the calls stay, and what
// was said, while the bulk of what tools answered goes. No model is asked.
package prune

import (
	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// What Results leaves of a result, in code points (C12).
const (
	Long = 8192 // a result of at most that many stays whole
	Head = 4096
	Tail = 1024
)

// Results cuts every long tool result that the model has seen to its head and its
// tail (C12), in surface order. What a cut leaves is short, so that calling again
// finds nothing.
func Results(nodes []session.Node) []compaction.Edit {
	var edits []compaction.Edit
	for _, n := range nodes[:compaction.Seen(nodes)] {
		if n.Role == llm.RoleTool && n.Chars > Long {
			edits = append(edits, trim(n, Head, Tail))
		}
	}
	return edits
}

func trim(n session.Node, head, tail int) compaction.Edit {
	return compaction.Edit{Trim: &compaction.Trim{Node: n.Seq, Head: head, Tail: tail}}
}
