package scripted_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

func TestLoadScript(t *testing.T) {
	t.Parallel()
	load := func(text string) (*scripted.Script, error) {
		path := filepath.Join(t.TempDir(), "script.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return scripted.LoadScript(path)
	}
	s, err := load(`{"replies": [
		{"calls": [{"name": "read", "arguments": {"file_path": "a"}}, {"id": "x", "name": "read", "arguments": "{broken"}]},
		{"error": {"status": 500}, "delay_ms": 3}
	], "then": "rules"}`)
	if err != nil {
		t.Fatal(err)
	}
	hello := llm.Request{Messages: []*llm.Message{user("hello")}}
	first := s.Reply(hello)
	if first.Calls[0].Arguments != `{"file_path": "a"}` || first.Calls[1].Arguments != "{broken" || first.Calls[1].ID != "x" {
		t.Errorf("calls %+v", first.Calls)
	}
	if second := s.Reply(hello); second.Error.Status != 500 || second.DelayMS != 3 {
		t.Errorf("second reply %+v", second)
	}
	if third := s.Reply(hello); third.Text != (scripted.Rules{}).Reply(hello).Text {
		t.Errorf("past the end: %+v", third)
	}
	for text, says := range map[string]string{
		`{"replies": [{"txt": "x"}]}`:         "txt",
		`[]`:                                  "replies",
		`{"replies": [], "then": "magician"}`: "magician",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := scripted.LoadScript(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a missing file loads")
	}
}
