package compaction

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// ErrUnseen: what makes a request too long is what the model has not seen yet.
var ErrUnseen = errors.New("what tools answered since the model's last message is too long")

// Seen is where what the model has not seen yet begins: at its last message.
func Seen(nodes []session.Node) int {
	for i := len(nodes) - 1; i >= 0; i-- {
		if nodes[i].Role == llm.RoleAssistant {
			return i
		}
	}
	return 0
}

const (
	blameShare = 4 // results that make up less than a 4th of the surface are not to blame
	blameNamed = 3 // results
)

// Blame is an ErrUnseen that names the results which the model has not seen, the
// largest first, where those are what takes up the room; nil elsewhere. It is for a
// strategy that found nothing to cut after a request was too long.
func Blame(nodes []session.Node) error {
	var unseen []session.Node
	all, tokens := 0, 0
	from := Seen(nodes)
	for i, n := range nodes {
		all += n.Tokens
		if i > from && n.Role == llm.RoleTool {
			unseen, tokens = append(unseen, n), tokens+n.Tokens
		}
	}
	if len(unseen) == 0 || blameShare*tokens < all {
		return nil
	}
	slices.SortStableFunc(unseen, func(x, y session.Node) int { return y.Tokens - x.Tokens })
	var list []string
	for _, n := range unseen[:min(len(unseen), blameNamed)] {
		list = append(list, fmt.Sprintf("call %s (event %d, about %d tokens)", n.CallID, n.Seq, n.Tokens))
	}
	if more := len(unseen) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w, and no part of it is cut or left out before the model has read it: %s: about %d of the %d tokens of the conversation. "+
		"Have the tool return less at a time, go on in a fork of the session from before the call, or use a model with a larger window",
		ErrUnseen, strings.Join(list, ", "), tokens, all)
}
