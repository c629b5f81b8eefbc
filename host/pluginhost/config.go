package pluginhost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// checkConfig holds the config against the plugin's own schema before the
// plugin sees it, and returns it as a JSON object. The error names every place.
func checkConfig(spec Spec, info sdk.Info) (json.RawMessage, error) {
	config := bytes.TrimSpace(spec.Config)
	if len(config) == 0 || bytes.Equal(config, []byte("null")) {
		config = []byte("{}")
	}
	value, err := decode(config)
	if err != nil {
		return nil, configError(spec, []string{"is not JSON: " + err.Error()})
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, configError(spec, []string{"is not a table of keys"})
	}
	if len(info.ConfigSchema) == 0 {
		if len(object) > 0 {
			return nil, configError(spec, []string{fmt.Sprintf("the plugin takes no config, but is given %s", quoted(keys(object)))})
		}
		return config, nil
	}
	schema, raw, err := compile(info.ConfigSchema)
	if err != nil {
		return nil, fmt.Errorf("the plugin's own config schema is no good: %w", err)
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(value); errors.As(err, &invalid) {
		return nil, configError(spec, describe(invalid, raw, value))
	} else if err != nil {
		return nil, configError(spec, []string{err.Error()})
	}
	return resolvePaths(spec, raw, object, config)
}

// resolvePaths makes the text under each key absolute whose schema has the format
// "path": a plugin has a working directory of its own. An empty text stays empty.
func resolvePaths(spec Spec, schema any, object map[string]any, config json.RawMessage) (json.RawMessage, error) {
	known, _ := at(schema, "/properties").(map[string]any)
	changed := false
	for key, rule := range known {
		r, _ := rule.(map[string]any)
		path, _ := object[key].(string)
		if r["format"] != "path" || path == "" {
			continue
		}
		abs := path
		if spec.Path != nil {
			abs = spec.Path(key, path)
		}
		abs, err := filepath.Abs(abs)
		if err != nil {
			return nil, configError(spec, []string{fmt.Sprintf("%s: %v", place("/"+key), err)})
		}
		object[key], changed = abs, true
	}
	if !changed {
		return config, nil
	}
	return json.Marshal(object)
}

func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return value, nil
}

// compile makes a validator that fetches nothing from anywhere.
func compile(schema json.RawMessage) (*jsonschema.Schema, any, error) {
	raw, err := decode(schema)
	if err != nil {
		return nil, nil, err
	}
	c := jsonschema.NewCompiler()
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("it refers to %s; a schema must be whole in itself", url)
	}
	const url = "mem:///config.json"
	if err := c.AddResource(url, bytes.NewReader(schema)); err != nil {
		return nil, nil, err
	}
	compiled, err := c.Compile(url)
	return compiled, raw, err
}

// describe says what is wrong, one line for each place.
func describe(e *jsonschema.ValidationError, schema, config any) []string {
	if len(e.Causes) > 0 {
		var lines []string
		for _, cause := range e.Causes {
			for _, line := range describe(cause, schema, config) {
				if !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
		return lines
	}
	parent, isUnknown := strings.CutSuffix(e.KeywordLocation, "/additionalProperties")
	if isUnknown {
		if lines := unknownKeys(e.InstanceLocation, at(schema, parent), at(config, e.InstanceLocation)); len(lines) > 0 {
			return lines
		}
	}
	return []string{fmt.Sprintf("%s: %s", place(e.InstanceLocation), e.Message)}
}

// unknownKeys names each key that the schema does not know, and the nearest.
func unknownKeys(where string, schema, config any) []string {
	object, _ := config.(map[string]any)
	rules, _ := schema.(map[string]any)
	known, _ := rules["properties"].(map[string]any)
	allowed := keys(known)
	var lines []string
	for _, key := range keys(object) {
		if slices.Contains(allowed, key) {
			continue
		}
		line := fmt.Sprintf("%s: unknown key %q", place(where+"/"+key), key)
		if near := nearest(key, allowed); near != "" {
			line += fmt.Sprintf("; did you mean %q?", near)
		}
		lines = append(lines, line+" (known: "+strings.Join(allowed, ", ")+")")
	}
	return lines
}

// at follows a JSON pointer, nil where it leads nowhere.
func at(value any, pointer string) any {
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[token]
	}
	return value
}

func configError(spec Spec, lines []string) error {
	return &ConfigError{Plugin: spec.Name, Origin: spec.Origin, Problems: lines}
}

// ConfigError says what the plugin's schema does not allow.
type ConfigError struct {
	Plugin   string
	Origin   string
	Problems []string // each with its JSON pointer
}

func (e *ConfigError) Error() string {
	where := "the config"
	if e.Origin != "" {
		where += " at " + e.Origin
	}
	return fmt.Sprintf("%s does not fit the plugin's schema: %s", where, strings.Join(e.Problems, "; "))
}

func place(pointer string) string {
	if pointer == "" {
		return "the config"
	}
	return pointer
}

func keys(object map[string]any) []string {
	names := make([]string, 0, len(object))
	for k := range object {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

func quoted(names []string) string {
	for i, n := range names {
		names[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(names, ", ")
}
