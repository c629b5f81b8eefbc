package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Validate checks a call's arguments against the tool's schema and returns the
// error result that the model sees, or false where they fit (T3).
func (r *Registry) Validate(name string, arguments json.RawMessage) (Result, bool) {
	i, ok := r.byName[name]
	if !ok {
		return Failed("UNKNOWN_TOOL", fmt.Sprintf("unknown tool %q", name)), true
	}
	value, err := decode(arguments)
	if err != nil {
		return BadArguments(), true
	}
	err = r.entries[i].schema.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return Result{}, false
	case errors.As(err, &invalid):
		return Failed("INVALID_ARGUMENTS", "invalid arguments: "+strings.Join(violations(invalid), "; ")), true
	default:
		return Failed("INVALID_ARGUMENTS", "invalid arguments: "+err.Error()), true
	}
}

// BadArguments is the result for arguments that are no JSON object (M15).
func BadArguments() Result {
	return Failed("INVALID_ARGUMENTS", `invalid arguments: "arguments" must be an object`)
}

func compile(name string, schema json.RawMessage) (*jsonschema.Schema, error) {
	var root struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, fmt.Errorf("is not a JSON object: %w", err)
	}
	if root.Type != "object" {
		return nil, fmt.Errorf(`has type %q at its root; it must be "object"`, root.Type)
	}
	c := jsonschema.NewCompiler()
	c.LoadURL = nil // a schema is whole in itself; nothing is fetched
	url := "tool:///" + name
	if err := c.AddResource(url, bytes.NewReader(schema)); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

func decode(b json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, errors.New("not an object")
	}
	return v, nil
}

// quoted finds the names in a sentence of the validator, which escapes them.
var quoted = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'`)

func names(sentence string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(sentence, -1) {
		name := strings.ReplaceAll(m[1], `\'`, `'`)
		if plain, err := strconv.Unquote(`"` + strings.ReplaceAll(name, `"`, `\"`) + `"`); err == nil {
			name = plain
		}
		out = append(out, name)
	}
	return out
}

// violations turns the leaves of a validation error into the sentences of T3.
func violations(err *jsonschema.ValidationError) []string {
	if len(err.Causes) == 0 || branches[keywordOf(err)] {
		return []string{violation(err)}
	}
	var out []string
	for _, c := range err.Causes {
		for _, v := range violations(c) {
			if len(out) == 0 || out[len(out)-1] != v {
				out = append(out, v)
			}
		}
	}
	return out
}

// branches are the keywords whose causes are about forms that the value need not
// have: one sentence about all of them says more.
var branches = map[string]bool{"oneOf": true, "anyOf": true}

func keywordOf(err *jsonschema.ValidationError) string {
	return err.KeywordLocation[strings.LastIndexByte(err.KeywordLocation, '/')+1:]
}

func violation(err *jsonschema.ValidationError) string {
	path := dotted(err.InstanceLocation)
	switch keyword := keywordOf(err); keyword {
	case "required":
		var missing []string
		for _, name := range names(err.Message) {
			missing = append(missing, fmt.Sprintf("missing required property %q", join(path, name)))
		}
		return strings.Join(missing, "; ")
	case "additionalProperties":
		var extra []string
		for _, name := range names(err.Message) {
			extra = append(extra, fmt.Sprintf("%q is not a declared property (additionalProperties: false)", join(path, name)))
		}
		return strings.Join(extra, "; ")
	case "type":
		want, _, _ := strings.Cut(strings.TrimPrefix(err.Message, "expected "), ",")
		return fmt.Sprintf("%q must be %s", orArguments(path), article(want))
	case "oneOf", "anyOf":
		want := map[string]string{"oneOf": "exactly one", "anyOf": "at least one"}[keyword]
		if len(err.Causes) == 0 {
			return fmt.Sprintf("%q must match %s of the forms that its schema allows, and matches several", orArguments(path), want)
		}
		var forms []string
		for _, c := range err.Causes {
			forms = append(forms, strings.Join(violations(c), " and "))
		}
		return fmt.Sprintf("%q must match %s of %d forms, and matches none (%s)", orArguments(path), want, len(forms), strings.Join(forms, ", or "))
	case "enum":
		return fmt.Sprintf("%q %s", orArguments(path), strings.Replace(err.Message, "value must be", "must be", 1))
	}
	return fmt.Sprintf("%q: %s", orArguments(path), err.Message)
}

// dotted reads a JSON pointer whose parts are escaped as in a URL too.
func dotted(pointer string) string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			p = plain
		}
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return strings.Join(parts, ".")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func orArguments(path string) string {
	if path == "" {
		return "arguments"
	}
	return path
}

func article(kind string) string {
	if strings.ContainsAny(kind[:min(1, len(kind))], "aeiou") {
		return "an " + kind
	}
	return "a " + kind
}
