package pluginhost

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tureen-host/tureen/plugins/sdk"
)

func TestAPathInAConfigIsResolvedByItsFormat(t *testing.T) {
	t.Parallel()
	info := sdk.Info{ConfigSchema: json.RawMessage(`{"type":"object","properties":{
		"file":{"type":"string","format":"path"}, "other":{"type":"string","format":"path"}, "text":{"type":"string"}, "n":{"type":"integer"}}}`)}
	spec := Spec{Config: json.RawMessage(`{"file":"a/../b.md","other":"","text":"a/b.md","n":12345678901234567}`),
		Path: func(key, path string) string { return filepath.Join("/etc", key, path) }}
	check := func(want map[string]any) {
		t.Helper()
		config, err := checkConfig(spec, info)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(config)
		if err != nil || !reflect.DeepEqual(got, any(want)) {
			t.Errorf("got %s, %v, want %v", config, err, want)
		}
	}
	want := map[string]any{"file": "/etc/file/b.md", "other": "", "text": "a/b.md", "n": json.Number("12345678901234567")}
	check(want)
	wd, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	spec.Path, want["file"] = nil, filepath.Join(wd, "b.md")
	check(want)
}
