package main_test

import (
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// A session keeps the effort that its requests to a model had, where nobody names
// another; the endpoint's own default is never written down as one.
func TestL11_TheEffortStaysWithTheSession(t *testing.T) {
	t.Parallel()
	p, model := boxed(t, answers(), "")
	other := &overheard{Agent: answers()}
	server, err := scripted.Serve(t.Context(), scripted.Options{Model: "other", ContextWindow: 32000, MaxOutputTokens: 2000, Agent: other})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "-P", "case.toml", "begin"}, ""},
		{[]string{"resume", "last", "more"}, ""},
		{[]string{"resume", "last", "more", "-c", "model.effort=low"}, "low"},
		{[]string{"resume", "last", "more"}, "low"},
		{[]string{"resume", "last", "more", "-c", "model.effort=high"}, "high"},
		{[]string{"resume", "last", "more"}, "high"},
		{[]string{"resume", "last", "more", "-m", "other", "--base-url", server.BaseURL()}, ""},
		{[]string{"resume", "last", "more"}, ""}, // the other model's default came last
	} {
		p.ok(t, append([]string{c.args[0], "-q"}, c.args[1:]...)...)
		asked := append(model.asked(), other.asked()...)
		if c.args[len(c.args)-1] != server.BaseURL() {
			asked = model.asked()
		}
		if got := asked[len(asked)-1].Effort; got != c.want {
			t.Errorf("%v: effort %q, want %q", c.args, got, c.want)
		}
	}
	// A header for each change, and none for a resume that changes nothing.
	headers := find(t, p.log(t), session.KindRequestHeader, func(session.Header) bool { return true })
	if len(headers) != 5 {
		t.Errorf("%d headers, want 5", len(headers))
	}
}
