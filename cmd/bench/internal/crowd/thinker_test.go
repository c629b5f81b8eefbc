package crowd

import (
	"fmt"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
)

// play asks the thinker as a host does, until it calls nothing more.
func play(t *testing.T, th *thinker, prompt string, before ...*llm.Message) (calls int) {
	t.Helper()
	messages := append(before, llm.Text(llm.RoleUser, prompt))
	for ; ; calls++ {
		var answer *llm.Answer
		for chunk, err := range th.Stream(t.Context(), llm.Request{Messages: messages}) {
			if err != nil {
				t.Fatal(err)
			}
			answer = chunk.Answer
		}
		messages = append(messages, answer.Message)
		if len(answer.Message.Calls()) == 0 {
			return calls
		}
		messages = append(messages, llm.ToolResult(answer.Message.Calls()[0].ID, "read", false))
	}
}

func TestAThinkerAsksForSoManySteps(t *testing.T) {
	t.Parallel()
	th := newThinker("/a", 2)
	th.begin(3, 0)
	first, second := th.prompt(), th.prompt()
	for _, prompt := range []string{first, second} {
		if n := play(t, th, prompt, llm.Text(llm.RoleSystem, "s"), llm.Text(llm.RoleUser, "facts")); n != 3 {
			t.Errorf("%q: %d calls", prompt, n)
		}
	}
	if costs := th.costs(); len(costs) != 6 || costs[0] < 0 {
		t.Errorf("%d steps are noted", len(costs))
	}
	th.begin(0, 0)
	if n := play(t, th, th.prompt(), llm.Text(llm.RoleUser, first), llm.ToolResult("x", "old", false)); n != 0 || len(th.costs()) != 0 {
		t.Errorf("%d calls in the next turn, %d steps noted", n, len(th.costs()))
	}
}

func TestQuantileOfMany(t *testing.T) {
	t.Parallel()
	var values []float64
	for i := range 200 {
		values = append(values, float64((i*7919)%200+1))
	}
	if got := fmt.Sprint(quantile(values, 0.5), quantile(values, 0.99), quantile(nil, 0.5)); got != "100 198 NaN" {
		t.Error(got)
	}
}
