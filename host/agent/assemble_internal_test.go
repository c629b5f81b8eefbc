package agent

import (
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// What is told of pending input before a step is what the surface grows by.
func TestC4_PendingTokensAreWhatTheSurfaceGrowsBy(t *testing.T) {
	t.Parallel()
	text := func(n int) string { return strings.Repeat("a word ", n) }
	first := assembled{system: text(300), context: text(20), header: session.Header{Model: "m", Tools: []llm.Tool{{Name: "t", Description: text(50)}}}}
	longer, shorter := first, first
	longer.system, longer.context, shorter.system = text(400), text(30), text(2)
	for name, tt := range map[string]struct {
		steps     []assembled // the last one is pending
		inHistory bool
	}{
		"first":              {steps: []assembled{first}},
		"nothing new":        {steps: []assembled{first, first}},
		"longer prompt":      {steps: []assembled{first, longer}},
		"shorter prompt":     {steps: []assembled{first, shorter}},
		"prompt in history":  {steps: []assembled{first, longer}, inHistory: true},
		"history, then back": {steps: []assembled{first, longer, first}, inHistory: true},
	} {
		s := fold.New()
		for i, p := range tt.steps {
			messages := []session.Event{userMessage(text(10*i+5), session.SourceOwner, "", 0), userMessage(text(3), session.SourcePlugin, "", 0)}
			before, pending := s.Estimate(), p.pendingTokens(s, messages, tt.inHistory)
			for _, e := range append(p.events(s, tt.inHistory), messages...) {
				e.Seq = s.Head + 1
				if err := s.Apply(e); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if grown := s.Estimate() - before; pending != grown {
				t.Errorf("%s: %d tokens are pending at step %d, the surface grows by %d", name, pending, i+1, grown)
			}
		}
	}
}
