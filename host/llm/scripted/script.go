package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"

	"github.com/tureen-host/tureen/host/llm"
)

// Script is an Agent that plays replies in order, one a request, whatever the
// request says. A request past the end goes to Then; without one it is refused
// with code script_exhausted.
type Script struct {
	Then Agent

	mu      sync.Mutex
	replies []Reply
	next    int
}

// NewScript makes a script of replies.
func NewScript(replies ...Reply) *Script { return &Script{replies: replies} }

// LoadScript reads a script file: {"replies": [...], "then": "rules"}, where
// "then" may be left out. Unknown keys are errors.
func LoadScript(path string) (*Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	var file struct {
		Replies []Reply `json:"replies"`
		Then    string  `json:"then"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("script %s is not {\"replies\": [...]}: %w", path, err)
	}
	s := NewScript(file.Replies...)
	switch file.Then {
	case "":
	case "rules":
		s.Then = Rules{}
	default:
		return nil, fmt.Errorf("script %s: then is %q; write \"rules\" or leave it out", path, file.Then)
	}
	return s, nil
}

// Reply returns the next reply.
func (s *Script) Reply(req llm.Request) Reply {
	s.mu.Lock()
	n := s.next
	s.next++
	s.mu.Unlock()
	if n < len(s.replies) {
		return s.replies[n]
	}
	if s.Then != nil {
		return s.Then.Reply(req)
	}
	return Reply{Error: &Failure{
		Status:  http.StatusBadRequest,
		Message: fmt.Sprintf("the script has %d replies and this is request %d; add a reply", len(s.replies), n+1),
		Type:    "invalid_request_error",
		Code:    "script_exhausted",
	}}
}

// Left is the number of replies that were not played yet.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, len(s.replies)-s.next)
}
