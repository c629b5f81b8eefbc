package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Equal schemas of a tool are compiled once; what is kept is bounded, and a schema
// that does not compile is an error each time.
func TestT3_SchemasAreCompiledOnce(t *testing.T) {
	t.Parallel()
	var s schemas
	text := func(n int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"type":"object","description":%q,"required":["p%d"]}`, strings.Repeat("x", maxSchemas/8), n))
	}
	a, err := s.get("a", text(0))
	if again, _ := s.get("a", text(0)); err != nil || again != a {
		t.Errorf("equal schemas are compiled twice, %v", err)
	}
	if b, _ := s.get("b", text(0)); b == a {
		t.Error("tools of two names share a schema")
	}
	for n := range 20 {
		schema, err := s.get("a", text(n))
		if err != nil || schema.Validate(map[string]any{fmt.Sprint("p", n): 1.0}) != nil || schema.Validate(map[string]any{}) == nil {
			t.Errorf("schema %d is another one, %v", n, err)
		}
		if s.size > maxSchemas || len(s.known) > 8 {
			t.Fatalf("%d schemas of %d bytes are kept", len(s.known), s.size)
		}
	}
	for range 2 {
		if _, err := s.get("a", json.RawMessage(`{"type":"object","required":7}`)); err == nil {
			t.Error("a bad schema compiles")
		}
	}
}
