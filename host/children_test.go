package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// TestS3_WhatAParentReadsOfEachEnd: by the reason, with the last answer cut where it is
// long.
func TestS3_WhatAParentReadsOfEachEnd(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 20_000)
	for want, c := range map[string]struct {
		reply scripted.Reply
		more  string
	}{
		"has finished. It does nothing more unless you send it a message.\n\nIts last answer:\nDone.": {reply: scripted.Reply{Text: "Done."}},
		"[the other 7232 bytes are left out;":                                              {reply: scripted.Reply{Text: long}},
		"ran out of room: its answer was cut off at the output limit":                      {reply: scripted.Reply{Text: "Half", Finish: "length"}},
		"failed before it had finished: INVALID_REQUEST, ":                                 {reply: scripted.Reply{Error: &scripted.Failure{Status: 400, Message: "no"}}},
		"It gave no answer in words.":                                                      {reply: scripted.Reply{Error: &scripted.Failure{Status: 400, Message: "no"}}},
		"was ended by a limit before it had finished: LIMIT_STEPS, limit limits.max_steps": {reply: scripted.Reply{Calls: []scripted.Call{{Name: "none", Arguments: "{}"}}}, more: "[limits]\nmax_steps = 1\n"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, settings{more: c.more, reply: func(req llm.Request) scripted.Reply {
				if strings.Contains(fmt.Sprint(last(req)), "Subagent ") {
					return scripted.Reply{Text: "I see."}
				}
				return c.reply
			}})
			child := h.spawn("do it")
			h.run()
			if settled := events[session.ChildSettled](h, h.ID(), session.KindChildSettled); len(settled) != 1 || settled[0].ID != child.ID {
				t.Fatalf("settled %+v", settled)
			}
			items := events[session.InboxItem](h, h.ID(), session.KindInboxQueued)
			if len(items) != 1 || !strings.HasPrefix(items[0].Text, "Subagent "+child.ID+" (a job) ") || !strings.Contains(items[0].Text, want) || items[0].From != child.ID {
				t.Errorf("the parent reads %+v", items)
			}
		})
	}
}

// TestS1_AChildHasItsParentsPlace: workspace, directory, profile, strategy; and its own
// depth.
func TestS1_AChildHasItsParentsPlace(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 9)
	h := newHome(t, settings{reply: func(req llm.Request) scripted.Reply {
		asked <- fmt.Sprint(req.Messages[1].Text())
		return scripted.Reply{Text: "Done."}
	}})
	below := filepath.Join(h.Workspace, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.Agent.Move(t.Context(), below); err != nil {
		t.Fatal(err)
	}
	child := h.spawn("do it")
	h.run()
	created := events[session.Created](h, child.ID, session.KindSessionCreated)[0]
	if created.Parent != h.ID() || created.Depth != 1 || created.Workspace != h.Workspace || created.Profile != h.Profile.Name || created.Strategy != "none" || created.Title != "a job" {
		t.Errorf("created %+v", created)
	}
	if text := <-asked; !strings.Contains(text, fmt.Sprintf("Working directory: %q. The session began in %q", below, h.Workspace)) || !strings.Contains(text, "You are a subagent") {
		t.Errorf("it is told: %s", text)
	}
	if id, err := h.store.Resolve(t.Context(), "last"); id != h.ID() {
		t.Errorf("last is %s (%v)", id, err)
	}
}

// TestS1_HardLimits: whatever a plugin allows, a tree is at most 8 deep, and 64 of it
// are at work.
func TestS1_HardLimits(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}, 99), make(chan struct{})
	h := newHome(t, settings{reply: func(req llm.Request) scripted.Reply {
		if strings.Contains(last(req), "do it") {
			begun <- struct{}{}
			<-release
		}
		return scripted.Reply{Text: "Done."}
	}})
	for range 64 {
		h.spawn("do it")
	}
	if _, err := h.lend().Spawn(t.Context(), session.Spawn{Task: "one more"}); err == nil || !strings.Contains(err.Error(), "64 subagents are at work") {
		t.Errorf("the 65th: %v", err)
	}
	for range 64 {
		<-begun
	}
	close(release)
	h.run()
	if n := len(events[session.ChildSettled](h, h.ID(), session.KindChildSettled)); n != 64 {
		t.Errorf("%d settled", n)
	}
	for text, want := range map[string]string{"": "the task is empty", strings.Repeat("x", 300_000): "put the text into a file"} {
		if _, err := h.lend().Spawn(t.Context(), session.Spawn{Task: text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a task of %d bytes: %v", len(text), err)
		}
	}
}

// full is a store in which no session can be made any more.
type full struct{ session.Store }

func (full) Create(context.Context, session.Created) (session.Log, error) {
	return nil, errors.New("the disk is full")
}

// TestS1_ASpawnThatFailsLeavesNothing: no session, no child in the log, and the next
// one succeeds.
func TestS1_ASpawnThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, settings{reply: func(llm.Request) scripted.Reply { return scripted.Reply{Text: "Done."} }})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.lend().Spawn(gone, session.Spawn{Task: "do it"}); err == nil {
		t.Error("a call that had ended spawned")
	}
	h.Store = full{h.store}
	if _, err := h.lend().Spawn(t.Context(), session.Spawn{Task: "do it"}); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("a full disk: %v", err)
	}
	h.Store = h.store
	if list, err := h.store.List(t.Context()); err != nil || len(list) != 1 || len(h.Agent.Children()) != 0 {
		t.Errorf("left: %+v, %+v, %v", list, h.Agent.Children(), err)
	}
	h.spawn("do it")
	if reason := h.run(); reason != session.ReasonCompleted {
		t.Errorf("ended %s", reason)
	}
}

// TestS5_EveryMessageToAChildIsRead: however it meets the child's end, each is read
// once, and the parent is told of as many ends as there were beginnings.
func TestS5_EveryMessageToAChildIsRead(t *testing.T) {
	t.Parallel()
	var answered atomic.Int64
	h := newHome(t, settings{reply: func(llm.Request) scripted.Reply {
		answered.Add(1)
		return scripted.Reply{Text: "Done."}
	}})
	child := h.spawn("message 0")
	const rounds, at = 30, 3
	for n := range rounds {
		var told sync.WaitGroup
		for m := range at {
			told.Go(func() {
				if err := h.lend().Tell(t.Context(), child.ID, fmt.Sprintf("message %d", 1+n*at+m)); err != nil {
					t.Error(err)
				}
			})
		}
		before := answered.Load()
		told.Wait()
		switch n % 3 { // the next ones come at once, as it is about to settle, or after that
		case 1:
			until(t, func() bool { return answered.Load() > before })
		case 2:
			until(t, func() bool { return h.Agent.Children()[0].State == session.StateSettled })
		}
	}
	h.run()
	read := map[string]int{}
	number := regexp.MustCompile(`message \d+$`)
	for _, m := range events[session.Message](h, child.ID, session.KindMessageUser) {
		if name := number.FindString(m.Message.Text()); name != "" {
			read[name]++
		}
	}
	if len(read) != 1+rounds*at {
		t.Errorf("%d messages were read: %v", len(read), read)
	}
	for name, n := range read {
		if n != 1 {
			t.Errorf("%s was read %d times", name, n)
		}
	}
	began, ended := events[session.ChildSpawned](h, h.ID(), session.KindChildSpawned), events[session.ChildSettled](h, h.ID(), session.KindChildSettled)
	if len(began) != len(ended) || len(began) < rounds/3 || len(h.heard(h.ID())) != len(ended) {
		t.Errorf("%d beginnings, %d ends, %d told", len(began), len(ended), len(h.heard(h.ID())))
	}
	used := 0
	for _, e := range ended {
		used += e.Usage.Total()
	}
	state := h.Agent.Children()[0]
	answers := events[session.Assistant](h, child.ID, session.KindMessageAssistant)
	all := 0
	for _, a := range answers {
		all += a.Usage.Total()
	}
	if used != all || state.Usage.Total() != all {
		t.Errorf("the child used %d, its settlements say %d, the state %d", all, used, state.Usage.Total())
	}
	if err := h.lend().Tell(t.Context(), "nobody", "hello"); err == nil || !strings.Contains(err.Error(), "neither a subagent") {
		t.Errorf("told nobody: %v", err)
	}
	if err := h.lend().Interrupt(t.Context(), child.ID); err == nil || !strings.Contains(err.Error(), "at work") {
		t.Errorf("interrupted one that has ended: %v", err)
	}
}

// TestC139_AStoppedParentStopsWhateverIsSpawnedMeanwhile: nobody is at work once Run
// has returned and the host is closed, none is lost, and none of it wakes the parent.
func TestC139_AStoppedParentStopsWhateverIsSpawnedMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHome(t, settings{reply: func(req llm.Request) scripted.Reply {
		return scripted.Reply{Text: strings.Repeat("word ", 1000), ChunkDelayMS: 50}
	}})
	h.spawn("do it")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				_, _ = h.lend().Spawn(ctx, session.Spawn{Task: "do it"})
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	all.Go(func() {
		time.Sleep(200 * time.Millisecond)
		cancel()
	})
	reason, _, err := h.Agent.Run(ctx)
	if err != nil || reason != session.ReasonCancelled {
		t.Errorf("ended %s, %v", reason, err)
	}
	all.Wait()
	owed := h.Agent.Owed()
	h.close()
	began, ended := events[session.ChildSpawned](h, h.ID(), session.KindChildSpawned), events[session.ChildSettled](h, h.ID(), session.KindChildSettled)
	if len(began) < 4 || len(began) != len(ended) || owed {
		t.Errorf("%d began, %d ended, owed: %v", len(began), len(ended), owed)
	}
	for _, e := range ended {
		if e.Reason != session.ReasonCancelled || e.Lost {
			t.Errorf("settled %+v", e)
		}
		if log, err := h.store.Open(context.Background(), e.ID); err != nil {
			t.Errorf("a subagent's log is held: %v", err)
		} else {
			log.Close()
		}
	}
}
