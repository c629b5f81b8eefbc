package cli

import (
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// branch is a session among those it works for and those that work for it.
type branch struct {
	session.Summary
	depth int // 0 = a person's own, or one whose parent is not there
}

// forest puts each subagent's session behind its parent's, oldest first; the others
// stay in their order.
func forest(list []session.Summary) []branch {
	children := map[string][]session.Summary{}
	there := map[string]bool{}
	for _, row := range list {
		there[row.ID] = true
	}
	var roots []session.Summary
	for _, row := range list {
		if there[row.Parent] {
			children[row.Parent] = append(children[row.Parent], row)
		} else {
			roots = append(roots, row)
		}
	}
	all := make([]branch, 0, len(list))
	placed := map[string]bool{}
	var place func(session.Summary, int)
	place = func(row session.Summary, depth int) {
		if placed[row.ID] {
			return
		}
		placed[row.ID] = true
		all = append(all, branch{row, depth})
		for _, child := range slices.Backward(children[row.ID]) {
			place(child, depth+1)
		}
	}
	for _, row := range append(roots, list...) { // a ring of parents has no root
		place(row, 0)
	}
	return all
}

// withSubagents adds to sessions those of their subagents, each behind its parent.
func withSubagents(list, rows []session.Summary) []session.Summary {
	var all []session.Summary
	within := -1 // depth of a named session that the walk is under
	for _, b := range forest(list) {
		named := slices.ContainsFunc(rows, func(row session.Summary) bool { return row.ID == b.ID })
		switch {
		case within >= 0 && b.depth > within:
		case named:
			within = b.depth
		default:
			within = -1
			continue
		}
		all = append(all, b.Summary)
	}
	return all
}

// unarchived leaves out what is put away, subagents with their parents, and tells how
// many that are.
func unarchived(all []branch) (shown []branch, hidden int) {
	within := -1
	for _, b := range all {
		if within >= 0 && b.depth > within {
			hidden++
			continue
		}
		if within = -1; b.Archived {
			within = b.depth
			hidden++
			continue
		}
		shown = append(shown, b)
	}
	return shown, hidden
}

// subagentsOf are the sessions that a session spawned, oldest first.
func subagentsOf(list []session.Summary, id string) []session.Summary {
	var found []session.Summary
	for _, row := range slices.Backward(list) {
		if row.Parent == id {
			found = append(found, row)
		}
	}
	return found
}

// mark says in front of a title what a session is besides a person's own.
func mark(row session.Summary) string {
	var words []string
	if row.Parent != "" {
		words = append(words, "subagent of "+row.Parent)
	}
	if row.Archived {
		words = append(words, "archived")
	}
	if len(words) == 0 {
		return ""
	}
	return "(" + strings.Join(words, ", ") + ") "
}

// readable tells whether a session's file reads and this version understands it.
func readable(row session.Summary) bool { return row.Status != "damaged" && row.Status != "newer" }
