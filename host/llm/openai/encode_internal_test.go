package openai

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
)

func conversation(name string, size int) []*llm.Message {
	return []*llm.Message{llm.Text(llm.RoleSystem, name), llm.Text(llm.RoleUser, strings.Repeat("x", size))}
}

func encoded(t *testing.T, e *encoder, messages []*llm.Message) string {
	t.Helper()
	p, err := e.encode(messages, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(p.messages, nil))
}

func (e *encoder) size() (lineages, cached int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, known := range e.lineages {
		lineages += len(known)
		for _, l := range known {
			cached += cap(l.bytes)
		}
	}
	if cached != e.cached {
		panic(fmt.Sprintf("the encoder counts %d bytes and holds %d", e.cached, cached))
	}
	return lineages, cached
}

func TestM23_ALineageGoesWithItsFirstMessage(t *testing.T) {
	t.Parallel()
	e := &encoder{quirk: &quirks[0], bound: maxCached}
	kept := conversation("kept", 10)
	for i := range 20 {
		encoded(t, e, conversation(fmt.Sprint(i), 1000))
	}
	encoded(t, e, kept)
	for range 200 {
		runtime.GC()
		if n, _ := e.size(); n == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if n, _ := e.size(); n != 1 {
		t.Errorf("%d lineages are left, want the one whose conversation lives", n)
	}
	runtime.KeepAlive(kept)
}

func TestM23_TheCacheIsBounded(t *testing.T) {
	t.Parallel()
	const bound = 64 << 10
	e := &encoder{quirk: &quirks[0], bound: bound}
	var all [][]*llm.Message
	for i := range 10 {
		all = append(all, conversation(fmt.Sprint(i), bound/8))
	}
	for _, messages := range append(all, all...) {
		if got := encoded(t, e, messages); len(got) < bound/8 {
			t.Fatalf("encoded %d bytes", len(got))
		}
		if _, cached := e.size(); cached > bound {
			t.Fatalf("%d bytes are kept, bound %d", cached, bound)
		}
	}
	runtime.KeepAlive(all)
}

func TestM23_ForksOfOneConversationAreBounded(t *testing.T) {
	t.Parallel()
	e := &encoder{quirk: &quirks[0], bound: maxCached}
	base := conversation("base", 10)
	for i := range 20 {
		fork := append(base[:2:2], llm.Text(llm.RoleAssistant, fmt.Sprint(i)), llm.Text(llm.RoleUser, "on"))
		got := encoded(t, e, fork)
		if want := fmt.Sprintf(`{"role":"assistant","content":"%d"},{"role":"user","content":"on"}`, i); !strings.HasSuffix(got, want) {
			t.Fatalf("fork %d is %s", i, got)
		}
	}
	if n, _ := e.size(); n != maxForks {
		t.Errorf("%d lineages, want %d", n, maxForks)
	}
	runtime.KeepAlive(base)
}

func BenchmarkM23_FollowUp(b *testing.B) {
	for _, exchanges := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(exchanges), func(b *testing.B) {
			e := &encoder{quirk: &quirks[0], bound: maxCached}
			messages := conversation("base", 10)
			for range exchanges {
				messages = append(messages, llm.Text(llm.RoleAssistant, strings.Repeat("a", 200)), llm.Text(llm.RoleUser, strings.Repeat("u", 200)))
			}
			if _, err := e.encode(messages, nil, true); err != nil {
				b.Fatal(err)
			}
			next := append(messages, llm.Text(llm.RoleAssistant, "a"), llm.Text(llm.RoleUser, "u"))
			for b.Loop() {
				if _, err := e.encode(next, nil, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
