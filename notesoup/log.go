package notesoup

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// Bounds of the search for write receipts: how many of the newest calls are looked
// at, and how many results after a call's start may be those of calls beside it.
const (
	recentCalls = 200
	besideCalls = 16
)

// maxPage bounds a page of events.
const maxPage = 128

// paged yields what a query selects in pages that begin with its Limit and grow:
// mostly the first one is enough, and payloads may be big.
func paged(ctx context.Context, log session.Access, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for ; ; q.Limit = min(2*q.Limit, maxPage) {
			n := 0
			for e, err := range log.Events(ctx, q) {
				if !yield(e, err) || err != nil {
					return
				}
				if n++; q.Reverse {
					q.Before = e.Seq
				} else {
					q.After = e.Seq
				}
			}
			if n < q.Limit {
				return
			}
		}
	}
}

// newest yields the events of the kinds, the newest first.
func newest(ctx context.Context, log session.Access, page int, after int64, kinds ...session.Kind) iter.Seq2[session.Event, error] {
	return paged(ctx, log, session.Query{Kinds: kinds, After: after, Reverse: true, Limit: page})
}

// receipts are the first lines of the newest write results since a seq, oldest
// first. Calls are found by their starts, which are small: of the results, which
// may be big, only those of writes are read.
func receipts(ctx context.Context, log session.Access, since int64) ([]string, error) {
	var lines []string
	seen := 0
	for e, err := range newest(ctx, log, 100, since, session.KindToolStarted) {
		if err != nil {
			return nil, fmt.Errorf("notesoup: find the writes in the log: %w", err)
		}
		if seen++; seen > recentCalls {
			break
		}
		call, err := session.Decode[session.ToolStarted](e)
		if err != nil || call.Name != "notes_write" && call.Name != "notes_edit" {
			continue
		}
		line, err := receipt(ctx, log, e.Seq, call.CallID)
		if err != nil {
			return nil, fmt.Errorf("notesoup: find the receipt of call %q in the log: %w", call.CallID, err)
		}
		if line == "" {
			continue
		}
		if lines = append(lines, line); len(lines) == MaxReceipts {
			break
		}
	}
	slices.Reverse(lines)
	return lines, nil
}

// receipt is the first line of the result of a call that was started at a seq, ""
// where it failed or has none. Writes run alone, so that it is mostly the first
// result after the start.
func receipt(ctx context.Context, log session.Access, started int64, id string) (string, error) {
	n := 0
	for e, err := range paged(ctx, log, session.Query{Kinds: []session.Kind{session.KindToolResult}, After: started, Limit: 1}) {
		if err != nil {
			return "", err
		}
		r, err := session.Decode[session.ToolResult](e)
		if err == nil && r.Message != nil && r.Message.CallID == id {
			if r.Message.IsError {
				return "", nil
			}
			line, _, _ := strings.Cut(r.Message.Text(), "\n")
			return fmt.Sprintf("seq=%d %s", e.Seq, line), nil
		}
		if n++; n == besideCalls {
			break
		}
	}
	return "", nil
}

// recentTurns bounds the events of turns and messages that are looked through for the
// owner's newest words: a reset costs no more where they have been silent for long.
const recentTurns = 2000

// firstWords is what the owner said first: the task of a session that has gone on by
// itself ever since.
func firstWords(ctx context.Context, log session.Access) ([]Said, error) {
	seen := 0
	for e, err := range paged(ctx, log, session.Query{Kinds: []session.Kind{session.KindMessageUser}, Limit: 8}) {
		if err != nil {
			return nil, fmt.Errorf("notesoup: find the owner's first words in the log: %w", err)
		}
		m, err := session.Decode[session.Message](e)
		if err == nil && m.Message != nil && (m.Source == session.SourceOwner || m.Source == session.SourceSteer) {
			return []Said{{Seq: e.Seq, Text: m.Message.Text()}}, nil
		}
		if seen++; seen == maxPage {
			break
		}
	}
	return nil, nil
}

// owning are the owner's words of the turn that is under way, oldest first, or of
// the last turn where none is (N18, carry = "request"). A turn whose first
// messages are not in the log yet brings its own, which follow the checkpoint: it
// needs nothing carried, unless the turn before it broke off and this one goes on
// with it. A turn in which the owner said nothing works for the last one in which
// they did.
func owning(ctx context.Context, log session.Access, turnOpen bool) ([]Said, error) {
	var said []Said
	var ended session.Reason
	turn := 0      // whose words are collected
	begun := false // a message of the open turn was seen
	seen := 0
	for e, err := range newest(ctx, log, 20, 0, session.KindTurnStarted, session.KindTurnEnded, session.KindMessageUser) {
		if err != nil {
			return nil, fmt.Errorf("notesoup: find the owner's request in the log: %w", err)
		}
		if seen++; seen > recentTurns {
			if len(said) > 0 {
				break
			}
			return firstWords(ctx, log)
		}
		switch e.Kind {
		case session.KindTurnEnded:
			r, err := session.Decode[session.TurnEnded](e)
			if err != nil || ended != "" || turn != 0 || turnOpen && begun {
				continue
			}
			if ended = r.Reason; turnOpen && ended == session.ReasonCompleted {
				return nil, nil
			}
		case session.KindTurnStarted:
			if len(said) > 0 && e.Turn <= turn {
				slices.Reverse(said)
				return said, nil
			}
		case session.KindMessageUser:
			m, err := session.Decode[session.Message](e)
			if err != nil || m.Message == nil {
				continue
			}
			begun = begun || m.Source != session.SourceCheckpoint
			if m.Source != session.SourceOwner && m.Source != session.SourceSteer {
				continue
			}
			if turn == 0 {
				turn = e.Turn
			}
			if e.Turn == turn {
				said = append(said, Said{Seq: e.Seq, Text: m.Message.Text(), Ended: ended})
			}
		}
	}
	slices.Reverse(said)
	return said, nil
}
