package main_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/tureen-host/tureen/host"
)

// published is the schema that the program prints, closed: what it does not name
// must not be there.
var published = sync.OnceValue(func() *publishedSchema {
	text, err := (&sandbox{dir: "/"}).commandOutput("schema")
	if err != nil {
		panic(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		panic(err)
	}
	delete(doc, "$id") // references stay within
	closeObjects(doc)
	closed, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.Draft, c.AssertFormat = jsonschema.Draft2020, true
	if err := c.AddResource("stream.json", bytes.NewReader(closed)); err != nil {
		panic(err)
	}
	p := &publishedSchema{whole: c.MustCompile("stream.json"), types: map[string]*jsonschema.Schema{}}
	for name := range doc["$defs"].(map[string]any) {
		p.types[name] = c.MustCompile("stream.json#/$defs/" + name)
	}
	return p
})

type publishedSchema struct {
	whole *jsonschema.Schema
	types map[string]*jsonschema.Schema
}

// fits holds a line against the definition of its type, which says more of what is
// wrong, and against the whole.
func fits(line any) error {
	object, _ := line.(map[string]any)
	name, _ := object["type"].(string)
	if one := published().types[name]; one != nil {
		if err := one.Validate(line); err != nil {
			return err
		}
	}
	return published().whole.Validate(line)
}

func (s *sandbox) commandOutput(args ...string) ([]byte, error) {
	cmd := s.command(args...)
	cmd.Dir = s.dir
	return cmd.Output()
}

func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range v {
			closeObjects(inner)
		}
	}
}

// line is one event of a stream; Result is filled in run.completed.
type line struct {
	V    int
	Seq  int
	Type string
	host.Result
}

// checkStream holds a whole stream against the contract: each line is as the
// schema says, seqs have no gap, and run.completed comes once and last. It returns
// the lines.
func checkStream(t testing.TB, stdout string) []line {
	t.Helper()
	var lines []line
	for text := range strings.Lines(stdout) {
		var v any
		var l line
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		if err := fits(v); err != nil {
			t.Errorf("%v\nin %s", err, text)
		}
		_ = json.Unmarshal([]byte(text), &l)
		if l.Seq != len(lines)+1 {
			t.Errorf("event %d has seq %d", len(lines)+1, l.Seq)
		}
		lines = append(lines, l)
	}
	ends := 0
	for _, l := range lines {
		if l.Type == "run.completed" {
			ends++
		}
	}
	if len(lines) == 0 {
		t.Fatal("no event at all")
	}
	if ends != 1 || lines[len(lines)-1].Type != "run.completed" {
		t.Errorf("run.completed comes %d times or is not last:\n%s", ends, stdout)
	}
	return lines
}

var typeLine = regexp.MustCompile(`^([a-z.]+)  +`)

// The table and the schema name the same types.
func TestTheSchemaNamesEveryEvent(t *testing.T) {
	t.Parallel()
	u := user(t)
	var schema struct {
		Schema string                     `json:"$schema"`
		Defs   map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(u.ok(t, "schema").stdout), &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Schema != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("it is of draft %s", schema.Schema)
	}
	var listed []string
	for text := range strings.Lines(u.ok(t, "help", "events").stdout) {
		if m := typeLine.FindStringSubmatch(text); m != nil {
			listed = append(listed, m[1])
		}
	}
	if len(listed) < 10 {
		t.Fatalf("help events lists %v", listed)
	}
	for _, name := range listed {
		if schema.Defs[name] == nil {
			t.Errorf("the schema lacks %s", name)
		}
	}
	if len(schema.Defs) != len(listed)+1 || schema.Defs["result"] == nil {
		t.Errorf("%d definitions for %d types of event", len(schema.Defs), len(listed))
	}
}

// Lines that are wrong are found wrong.
func TestTheSchemaRefusesWhatItMust(t *testing.T) {
	t.Parallel()
	good := `{"v":1,"seq":3,"ts":"2026-01-02T03:04:05Z","type":"turn.failed","turn":1,"status":"limit","error":{"code":"C","message":"m"}}`
	for _, c := range []struct{ old, new string }{
		{"", ""},
		{`"v":1`, `"v":2`}, {`"seq":3`, `"seq":"3"`}, {`"turn":1,`, ""}, {"limit", "tired"}, {"turn.failed", "turn.lost"},
		{`"turn":1`, `"turn":1,"mood":"low"`}, {`"message":"m"`, `"massage":"m"`}, {"2026-01-02T", "yesterday "},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := fits(v); (err == nil) != (c.old == "") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func types(lines []line) []string {
	var names []string
	for _, l := range lines {
		names = append(names, l.Type)
	}
	return slices.Compact(names)
}
