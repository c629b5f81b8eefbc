package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/tureen-host/tureen/"

// layers says what each package may import of this module: arrows point down. A
// name ending in /... stands for the packages below; the longest match counts.
var layers = []struct{ pkg, may string }{
	{"cmd/tureen", "cmd/tureen/internal/..."},
	{"cmd/tureen/internal/cli", "cmd/tureen/internal/... host host/... compaction notesoup/notes plugins/builtin plugins/sdk profiles"},
	{"cmd/tureen/internal/chat", "cmd/tureen/internal/render host/agent host/command host/llm host/session"},
	{"cmd/tureen/internal/render", "host host/llm host/session"},
	{"cmd/tureen/internal/search", "host/llm host/session"},

	{"cmd/bench", "cmd/bench/internal/... host host/... compaction plugins/... profiles"},
	{"cmd/bench/...", "cmd/bench/internal/... host host/... compaction notesoup notesoup/... plugins/... profiles"},

	{"host", "host/... compaction plugins/sdk"},
	{"host/agent", "compaction host/command host/hook host/llm host/prompt host/session host/session/fold host/spill host/tool"},
	{"host/pluginhost", "compaction host/command host/hook host/llm host/prompt host/session host/tool plugins/sdk proto/tureen/plugin/v1"},
	{"host/profile", "compaction"},
	{"host/profile/trust", "host/profile"},
	{"host/hook", "host/llm host/session host/tool"},
	{"host/command", ""},
	{"host/prompt", "host/llm host/session host/tool"},
	{"host/tool", "host/llm host/session"},
	{"host/spill", "host/llm host/session host/tool"},
	{"host/session", "host/llm"},
	{"host/session/...", "host/llm host/session host/session/..."},
	{"host/llm", ""},
	{"host/llm/...", "host/llm"},

	{"compaction", "host/llm host/session"},
	{"compaction/...", "compaction host/llm host/session"},
	{"compaction/summary", "compaction compaction/prune host/llm host/session"},
	{"notesoup", "compaction host/llm host/session notesoup/..."},
	{"notesoup/notes", ""},
	{"notesoup/history", "compaction host/llm host/session notesoup/notes"},

	{"plugins/sdk", "compaction host/command host/hook host/llm host/prompt host/session host/tool proto/tureen/plugin/v1"},
	{"plugins/sdk/...", "compaction host/command host/hook host/llm host/prompt host/session host/tool plugins/sdk proto/tureen/plugin/v1"},
	{"plugins/builtin", "plugins/..."},
	{"plugins/internal/toolcall", "compaction host/command host/hook host/llm host/prompt host/session host/tool plugins/sdk"},
	{"plugins/notesoup", "compaction host/hook host/llm host/prompt host/session host/tool notesoup notesoup/... plugins/internal/toolcall plugins/sdk"},
	{"plugins/prune", "compaction/prune plugins/sdk"},
	{"plugins/summary", "compaction compaction/summary host/session plugins/sdk"},
	{"plugins/truncate", "compaction/truncate plugins/sdk"},
	{"plugins/...", "compaction host/command host/hook host/llm host/prompt host/session host/tool plugins/... plugins/internal/... plugins/sdk"},

	{"profiles", ""},
	{"proto/...", ""},
}

// owners are the only packages that may import what is foreign and heavy: one
// package for each technology. The benchmark measures what they cost at the least.
var owners = []struct{ foreign, owners string }{
	{"github.com/hashicorp/go-plugin", "plugins/sdk host/pluginhost"},
	{"google.golang.org/grpc", "plugins/sdk plugins/sdk/plugintest host/pluginhost proto/... cmd/bench/..."},
	{"github.com/openai/openai-go", "host/llm/openai"},
	{"modernc.org/sqlite", "host/session/sqlitelog cmd/bench/..."},
	{"github.com/pressly/goose", "host/session/sqlitelog"},
	{"github.com/spf13", "cmd/tureen/internal/cli"},
	{"charm.land", "cmd/tureen/internal/chat"},
	{"github.com/charmbracelet", "cmd/tureen/internal/chat"},
}

// never are packages that must not be reached, not even through others.
var never = []struct{ pkg, reaches string }{
	{"host/agent", "github.com/hashicorp/go-plugin"},
	{"host/agent", "modernc.org/sqlite"},
	{"host/agent", "github.com/openai/openai-go"},
	{"plugins/sdk", "modernc.org/sqlite"},
	{"plugins/sdk", "github.com/openai/openai-go"},
	{"notesoup", "google.golang.org/grpc"},
	{"compaction/prune", "google.golang.org/grpc"},
	{"compaction/summary", "google.golang.org/grpc"},
	{"compaction/truncate", "google.golang.org/grpc"},
}

type listedPackage struct {
	ImportPath, Doc string
	Imports, Deps   []string
}

// packages lists the module, names without the module's path.
var packages = sync.OnceValues(func() ([]listedPackage, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,Deps", module+"...")
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []listedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		all = append(all, p)
	}
})

func list(t *testing.T) []listedPackage {
	t.Helper()
	all, err := packages()
	if err != nil || len(all) == 0 {
		t.Fatalf("go list: %d packages, %v", len(all), err)
	}
	return all
}

func TestArrowsPointDown(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		may, known := allowed(p.ImportPath)
		if !known {
			t.Errorf("%s stands in no row of layers: say what it may import", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			own, isOwn := strings.CutPrefix(imported, module)
			if isOwn && !matchesAny(own, may) {
				t.Errorf("%s imports %s; it may import: %s", p.ImportPath, own, may)
			}
		}
	}
}

func TestEachTechnologyHasOnePackage(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		for _, o := range owners {
			if slices.ContainsFunc(p.Imports, func(i string) bool { return strings.HasPrefix(i, o.foreign) }) && !matchesAny(p.ImportPath, o.owners) {
				t.Errorf("%s imports %s, which is for %s", p.ImportPath, o.foreign, o.owners)
			}
		}
		for _, n := range never {
			if p.ImportPath == n.pkg && slices.ContainsFunc(p.Deps, func(d string) bool { return strings.HasPrefix(d, n.reaches) }) {
				t.Errorf("%s reaches %s", n.pkg, n.reaches)
			}
		}
	}
}

func TestEachPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		if p.Doc == "" && !strings.HasPrefix(p.ImportPath, "proto/") { // those are generated
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// allowed finds the row with the longest match.
func allowed(pkg string) (may string, known bool) {
	best := -1
	for _, l := range layers {
		if matches(pkg, l.pkg) && len(l.pkg) > best {
			may, known, best = l.may, true, len(l.pkg)
		}
	}
	return may, known
}

func matchesAny(pkg, patterns string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool { return matches(pkg, pattern) })
}

func matches(pkg, pattern string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(pkg, below+"/")
	}
	return pkg == pattern
}
