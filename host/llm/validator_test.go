package llm_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
)

// drawMessage draws a message that may well follow the others: half of them do.
func drawMessage(t *rapid.T, before []*llm.Message) *llm.Message {
	ids := []string{"a", "b", "c", "d", "e", "f", ""}
	open := map[string]bool{}
	for _, m := range before {
		for _, c := range m.Calls() {
			open[c.ID] = true
		}
		delete(open, m.CallID)
	}
	if len(open) > 0 && rapid.Bool().Draw(t, "answer") {
		for _, id := range ids {
			if open[id] {
				return result(id)
			}
		}
	}
	switch rapid.SampledFrom([]string{"user", "user", "said", "calls", "calls", "result", "system", "other"}).Draw(t, "kind") {
	case "user":
		return llm.Text(llm.RoleUser, "hi")
	case "said":
		return llm.Text(llm.RoleAssistant, "hello")
	case "calls":
		return calling(rapid.SliceOfN(rapid.SampledFrom(ids), 1, 2).Draw(t, "ids")...)
	case "result":
		return result(rapid.SampledFrom(ids).Draw(t, "id"))
	case "system":
		return llm.Text(llm.RoleSystem, "be brief")
	}
	return &llm.Message{Role: "developer"}
}

func verdict(err error) string {
	if err == nil {
		return "valid"
	}
	return err.Error()
}

// A conversation that is checked as it grows gets the verdicts of one that is
// checked whole each time.
func TestM7_M8_ValidatorAgreesWithValidate(t *testing.T) {
	t.Parallel()
	longest := 0
	rapid.Check(t, func(t *rapid.T) {
		v := new(llm.Validator)
		known := []*llm.Message{}
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			whole := known
			if len(known) == 0 {
				whole = []*llm.Message{system, user}
			}
			for range rapid.IntRange(0, 4).Draw(t, "more") {
				whole = append(whole[:len(whole):len(whole)], drawMessage(t, whole))
			}
			more, want := whole[len(known):], verdict(llm.Validate(whole))
			if got := verdict(v.Check(more)); got != want {
				t.Fatalf("Check: %s; Validate: %s", got, want)
			}
			if got := verdict(v.Extend(more)); got != want {
				t.Fatalf("Extend: %s; Validate: %s", got, want)
			}
			if want == "valid" {
				known = whole
			}
			if v.Known() != len(known) {
				t.Fatalf("%d messages are known, want %d", v.Known(), len(known))
			}
			longest = max(longest, len(known))
		}
	})
	if longest < 6 {
		t.Errorf("the longest valid conversation had %d messages: the test tried too little", longest)
	}
}

func TestM7_ValidatorKnowsNothingOfWhatWasRefused(t *testing.T) {
	t.Parallel()
	v := new(llm.Validator)
	if err := v.Check(nil); err == nil {
		t.Error("an empty conversation is valid")
	}
	if err := v.Extend([]*llm.Message{system, user, calling("a"), result("a"), calling("b")}); err == nil || v.Known() != 0 {
		t.Errorf("got %v, %d known", err, v.Known())
	}
	if err := v.Extend([]*llm.Message{system, user, calling("a", "b"), result("a"), result("b")}); err != nil {
		t.Errorf("the ids of a refused conversation count: %v", err)
	}
	if err := v.Check([]*llm.Message{calling("b"), result("b")}); err == nil {
		t.Error("an id of the known messages is used again")
	}
}
