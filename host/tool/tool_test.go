package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/tool"
)

type provider struct {
	name  string
	specs []tool.Spec
}

func (p provider) Name() string                                       { return p.name }
func (p provider) Tools(context.Context, string) ([]tool.Spec, error) { return p.specs, nil }
func (p provider) Call(context.Context, tool.Call, func(string)) (tool.Result, error) {
	return tool.Result{}, nil
}

func spec(name, schema string) tool.Spec {
	return tool.Spec{Name: name, Schema: json.RawMessage(schema)}
}

func TestT1_ARegistryRefusesWhatAModelCouldNotUse(t *testing.T) {
	t.Parallel()
	for want, specs := range map[string][]tool.Spec{
		`named "bad name"`:               {spec("bad name", `{"type":"object"}`)},
		`"a" and "b" both offer`:         {spec("x", `{"type":"object"}`)},
		`must be "object"`:               {spec("y", `{"type":"string"}`)},
		`the schema of tool "z"`:         {spec("z", `{"type":"object","properties":5}`)},
		`the schema of tool "remote"`:    {spec("remote", `{"type":"object","$ref":"http://127.0.0.1:1/s.json"}`)},
		`the schema of tool "no-schema"`: {spec("no-schema", ``)},
	} {
		_, err := tool.NewRegistry(t.Context(), "s", []tool.Provider{provider{"a", []tool.Spec{spec("x", `{"type":"object"}`)}}, provider{"b", specs}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestT1_TheFirstOfSeveralProblemsIsTold(t *testing.T) {
	t.Parallel()
	good, bad := spec("good", `{"type":"object"}`), func(name string) tool.Spec { return spec(name, `{"type":"string"}`) }
	for want, specs := range map[string][]tool.Spec{
		`schema of tool "first"`: {good, bad("first"), bad("second"), spec("bad name", `{}`)},
		`named "bad name"`:       {good, spec("bad name", `{}`), bad("later")},
		`both offer`:             {good, good, bad("later")},
	} {
		for range 20 {
			_, err := tool.NewRegistry(t.Context(), "s", []tool.Provider{provider{"a", specs}, provider{"b", []tool.Spec{bad("last")}}})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("want %q, got %v", want, err)
			}
		}
	}
}

func TestSP8_M22_DeclarationsAreByteStable(t *testing.T) {
	t.Parallel()
	p := provider{"a", []tool.Spec{spec("b", `{"type":"object"}`), spec("a", `{"type":"object"}`)}}
	var first []byte
	for range 20 {
		r, err := tool.NewRegistry(t.Context(), "s", []tool.Provider{p})
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(r.Declarations())
		if first == nil {
			first = b
		}
		if string(first) != string(b) {
			t.Fatalf("%s\n%s", first, b)
		}
	}
}

func TestT3_ViolationsNameThePropertyAndTheRule(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","additionalProperties":false,"required":["path","mode"],"properties":{
		"path":{"type":"string"},"mode":{"enum":["a","b"]},"n":{"type":"integer"},"edits":{"type":"array","items":{"type":"object","required":["old"]}}}}`
	r, err := tool.NewRegistry(t.Context(), "s", []tool.Provider{provider{"p", []tool.Spec{spec("x", schema)}}})
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{}`:                                   `missing required property "path"; missing required property "mode"`,
		`{"path":1,"mode":"a"}`:                `"path" must be a string`,
		`{"path":"p","mode":"c"}`:              `"mode" must be one of "a", "b"`,
		`{"path":"p","mode":"a","n":1.5}`:      `"n" must be an integer`,
		`{"path":"p","mode":"a","zz":1}`:       `"zz" is not a declared property (additionalProperties: false)`,
		`{"path":"p","mode":"a","edits":[{}]}`: `missing required property "edits.0.old"`,
		`[]`:                                   `"arguments" must be an object`,
	} {
		got, refused := r.Validate("x", json.RawMessage(arguments))
		if !refused || got.Text != "Error: invalid arguments: "+want || !got.IsError {
			t.Errorf("%s gives %q, want %q", arguments, got.Text, want)
		}
	}
	if got, refused := r.Validate("x", json.RawMessage(`{"path":"p","mode":"a","n":12345678901234567890}`)); refused {
		t.Errorf("a big integer is refused: %q", got.Text)
	}
}

func TestL19_T4_WavesKeepOrderAndNeverMixExclusiveCalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		parallel := rapid.SliceOfN(rapid.Bool(), 0, 40).Draw(rt, "parallel")
		next := 0
		for _, wave := range tool.Waves(len(parallel), func(i int) bool { return parallel[i] }) {
			if len(wave) == 0 || len(wave) > tool.PoolSize {
				rt.Fatalf("a wave of %d", len(wave))
			}
			for _, i := range wave {
				if i != next {
					rt.Fatalf("call %d where %d is due", i, next)
				}
				next++
				if len(wave) > 1 && !parallel[i] {
					rt.Fatalf("exclusive call %d shares a wave", i)
				}
			}
		}
		if next != len(parallel) {
			rt.Fatalf("%d of %d calls", next, len(parallel))
		}
	})
}

func TestCleanMakesTextStorable(t *testing.T) {
	t.Parallel()
	if got := tool.Clean("a\x00b\xffc\u00e9"); got != "ab\uFFFDc\u00e9" {
		t.Errorf("%q", got)
	}
}
