package prune_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/prune"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// exchange appends an answer with one call for each size, and their results.
func exchange(nodes []session.Node, sizes ...int) []session.Node {
	answer := session.Node{Seq: int64(len(nodes) + 1), Role: llm.RoleAssistant, Tokens: 20, Chars: 10}
	for i := range sizes {
		answer.CallIDs = append(answer.CallIDs, fmt.Sprintf("call-%d-%d", answer.Seq, i))
	}
	nodes = append(nodes, answer)
	for i, size := range sizes {
		nodes = append(nodes, session.Node{Seq: int64(len(nodes) + 1), Role: llm.RoleTool, Chars: size,
			Tokens: size/3 + 8, CallID: answer.CallIDs[i]})
	}
	return nodes
}

func say(nodes []session.Node, role llm.Role, chars int) []session.Node {
	return append(nodes, session.Node{Seq: int64(len(nodes) + 1), Role: role, Chars: chars, Tokens: chars/3 + 4})
}

func TestC12_OneCodePointDecides(t *testing.T) {
	t.Parallel()
	nodes := exchange(say(nil, llm.RoleSystem, 300), prune.Long, prune.Long+1)
	nodes = say(say(nodes, llm.RoleAssistant, 9000), llm.RoleUser, 9000)
	edits := prune.Results(nodes)
	want := compaction.Trim{Node: nodes[3].Seq, Head: 4096, Tail: 1024}
	if len(edits) != 1 || edits[0].Trim == nil || *edits[0].Trim != want {
		t.Fatalf("got %+v, want one edit %+v", edits, want)
	}
}

func TestC12_WhatTheModelHasNotSeenStays(t *testing.T) {
	t.Parallel()
	old := exchange(say(nil, llm.RoleSystem, 300), 20_000)
	nodes := exchange(old, 20_000, 30_000)
	for behind, nodes := range map[string][]session.Node{
		"the newest results": nodes, "a steering message behind them": say(nodes, llm.RoleUser, 10), "a part of the batch": nodes[:len(nodes)-1],
	} {
		edits := prune.Results(nodes)
		if len(edits) != 1 || edits[0].Trim.Node != old[2].Seq {
			t.Errorf("%s: got %d edits, want the old result alone", behind, len(edits))
		}
	}
	if edits := prune.Results(say(nodes, llm.RoleAssistant, 10)); len(edits) != 3 {
		t.Errorf("once the model has answered: got %d edits, want 3", len(edits))
	}
	if len(prune.Results(nil)) != 0 || len(prune.Results(old[:1])) != 0 {
		t.Error("a surface without results is cut")
	}
}

// The edits fit every surface, cut what they should and nothing else, and leave
// nothing to cut.
func TestC12_EveryLongSeenResultOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := surface(t)
		edits := prune.Results(nodes)
		cut := map[int64]bool{}
		for _, e := range edits {
			cut[e.Trim.Node] = true
		}
		answered := false // by a later answer
		for i := len(nodes) - 1; i >= 0; i-- {
			n := nodes[i]
			if want := n.Role == llm.RoleTool && n.Chars > 8192 && answered; cut[n.Seq] != want {
				t.Fatalf("node %d (%s, %d characters, answered %v): cut %v", i, n.Role, n.Chars, answered, cut[n.Seq])
			}
			answered = answered || n.Role == llm.RoleAssistant
		}
		if len(edits) == 0 {
			return
		}
		if err := compaction.CheckEdits(nodes, edits); err != nil {
			t.Fatal(err)
		}
		if again := prune.Results(apply(nodes, edits)); len(again) != 0 {
			t.Fatalf("%d results are cut a second time", len(again))
		}
	})
}

// surface draws node 0, a prompt, and exchanges between messages.
func surface(t *rapid.T) []session.Node {
	nodes := say(say(nil, llm.RoleSystem, 3000), llm.RoleUser, 300)
	for range rapid.IntRange(0, 25).Draw(t, "units") {
		switch rapid.IntRange(0, 3).Draw(t, "unit") {
		case 0:
			nodes = say(nodes, llm.RoleUser, rapid.IntRange(1, 2000).Draw(t, "said"))
		case 1:
			nodes = say(nodes, llm.RoleAssistant, rapid.IntRange(1, 20_000).Draw(t, "answered"))
		default:
			nodes = exchange(nodes, rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 9000), rapid.IntRange(0, 40_000)), 1, 4).Draw(t, "results")...)
		}
	}
	return nodes
}

// apply is what the surface looks like once trims are applied.
func apply(nodes []session.Node, edits []compaction.Edit) []session.Node {
	after := append([]session.Node(nil), nodes...)
	for _, e := range edits {
		for i := range after {
			if after[i].Seq == e.Trim.Node {
				text := compaction.TrimText(strings.Repeat("x", after[i].Chars), e.Trim.Head, e.Trim.Tail)
				after[i].Chars, after[i].Tokens = len(text), len(text)/3+8
			}
		}
	}
	return after
}
