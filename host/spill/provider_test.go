package spill_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/memlog"
	"github.com/tureen-host/tureen/host/spill"
	"github.com/tureen-host/tureen/host/tool"
)

// kept is a session whose event 2 keeps a text, and its Provider.
func kept(t *testing.T, id, text string) *spill.Provider {
	t.Helper()
	log, err := memlog.New().Create(t.Context(), session.Created{ID: id, Workspace: "/w", Time: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(t.Context(), session.Batch{Head: 1, Events: []session.Event{spill.Event("c1", "shell", text, 0), session.New(session.KindWarning, session.Warning{})}}); err != nil {
		t.Fatal(err)
	}
	return spill.New(log)
}

func call(t *testing.T, p *spill.Provider, room, step int, arguments string) tool.Result {
	t.Helper()
	r, err := p.Call(t.Context(), tool.Call{Turn: 1, Step: step, Name: spill.ToolName, Room: room, Arguments: json.RawMessage(arguments)}, nil)
	if err != nil {
		t.Error(err)
	}
	return r
}

func TestC16_AnIdThatIsNoneIsRefusedInWords(t *testing.T) {
	t.Parallel()
	p := kept(t, "s1", "the text\n")
	for _, id := range []string{"spill-2", "2", " spill-2 "} {
		if r := call(t, p, -1, 1, fmt.Sprintf(`{"id":%q}`, id)); r.IsError || !strings.HasPrefix(r.Text, "1: the text\n") {
			t.Errorf("id %q: %+v", id, r)
		}
	}
	for _, id := range []string{"", "c1", "spill-", "spill-0", "spill--1", "spill-1", "spill-3", "spill-99", "spill-99999999999999999999", "../../etc/passwd", "spill-2\x00"} {
		b, _ := json.Marshal(map[string]string{"id": id})
		if r := call(t, p, -1, 1, string(b)); !r.IsError || r.Code != "NOT_FOUND" || !strings.Contains(r.Text, `like "spill-57"`) {
			t.Errorf("id %q: %+v", id, r)
		}
	}
	if r := call(t, p, -1, 1, `{"id":"spill-2","offset":2}`); !r.IsError || r.Text != "Error: offset 2 is out of range: the result has 1 lines" {
		t.Errorf("%+v", r)
	}
	if r := call(t, p, -1, 1, `{"id":"spill-2","offset":1.0,"limit":1e3}`); r.IsError {
		t.Errorf("integers in other notations: %+v", r)
	}
}

func TestC16_TheToolFitsItsOwnSchema(t *testing.T) {
	t.Parallel()
	r, err := tool.NewRegistry(t.Context(), "s1", []tool.Provider{kept(t, "s1", "x")})
	if err != nil {
		t.Fatal(err)
	}
	spec, p, ok := r.Lookup("read_spill")
	if !ok || !spec.NoSpill || !spec.Parallel || p.Name() != "host" {
		t.Errorf("%+v of %v", spec, p)
	}
	for arguments, fits := range map[string]bool{
		`{"id":"spill-2","offset":3,"column":4,"limit":5,"search":"x"}`: true, `{"id":"spill-2"}`: true,
		`{}`: false, `{"id":"spill-2","offset":0}`: false, `{"id":"a","path":"/etc"}`: false,
	} {
		if bad, refused := r.Validate("read_spill", json.RawMessage(arguments)); refused == fits {
			t.Errorf("%s: %+v", arguments, bad)
		}
	}
}

// Many pages at once must not fill the context, and no page takes all the room.
func TestC16_PagesShareTheRoomOfTheirStep(t *testing.T) {
	t.Parallel()
	p := kept(t, "s1", strings.Repeat("word after word\n", 200_000))
	step := func(step, room, calls int) (sum int) {
		var mu sync.Mutex
		var wait sync.WaitGroup
		for range calls {
			wait.Go(func() {
				n := llm.EstimateText(call(t, p, room, step, `{"id":"spill-2"}`).Text)
				mu.Lock()
				defer mu.Unlock()
				sum += n
			})
		}
		wait.Wait()
		return sum
	}
	for i, c := range []struct{ room, calls, least, most int }{
		{-1, 1, 10_000, 12_500}, {100_000, 1, 10_000, 12_500}, {-1, 10, 40_000, 60_000}, {8000, 1, 3000, 4000}, {8000, 3, 5000, 8000}, {0, 1, 500, 1000},
	} {
		if got := step(i+1, c.room, c.calls); got < c.least || got > c.most {
			t.Errorf("%d calls with a room of %d took %d tokens, want %d to %d", c.calls, c.room, got, c.least, c.most)
		}
	}
}

func TestC16_ACancelledCallEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := kept(t, "s1", "x").Call(ctx, tool.Call{Arguments: json.RawMessage(`{"id":"spill-2"}`)}, nil)
	if err != nil || !r.IsError || r.Text != "Error: tool call aborted" {
		t.Errorf("%+v, %v", r, err)
	}
}

// Who searches in vain learns that the text was not all there was (C154).
func TestW1_C154_PagesOfAPartialTextSaySo(t *testing.T) {
	t.Parallel()
	log, err := memlog.New().Create(t.Context(), session.Created{ID: "s1", Workspace: "/w", Time: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(t.Context(), session.Batch{Head: 1, Events: []session.Event{spill.Event("c1", "shell", "start\nend\n", 4096)}}); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range []string{`{"id":"spill-2"}`, `{"id":"spill-2","search":"middle"}`} {
		if r := call(t, spill.New(log), -1, 1, arguments); r.IsError || !strings.HasSuffix(r.Text, " (The stored text is partial: the tool left out 4096 more bytes, which are nowhere kept.)") {
			t.Errorf("%s: %q", arguments, r.Text)
		}
	}
}
