package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/search"
)

// bench is the plugin with one session on a workspace of its own.
type bench struct {
	t        *testing.T
	dir      string
	provider *search.Provider
	tools    *tool.Registry
}

type args = map[string]any

func setup(t *testing.T) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	services, err := search.Plugin("test").Start(t.Context(), sdk.Init{Config: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := services.Sessions.Open(t.Context(), compaction.Session{ID: "s", Workspace: dir}); err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewRegistry(t.Context(), "s", []tool.Provider{services.Tools})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, dir, services.Tools.(*search.Provider), tools}
}

func (b *bench) call(ctx context.Context, name string, a args) tool.Result {
	b.t.Helper()
	arguments, err := json.Marshal(a)
	if err != nil {
		b.t.Fatal(err)
	}
	if bad, ok := b.tools.Validate(name, arguments); ok {
		return bad
	}
	r, err := b.provider.Call(ctx, tool.Call{Session: "s", Name: name, Arguments: arguments, Room: -1}, nil)
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// gives calls a tool whose whole answer is lines.
func (b *bench) gives(name string, a args, lines ...string) {
	b.t.Helper()
	r := b.call(b.t.Context(), name, a)
	if want := strings.Join(lines, "\n"); r.IsError || r.Text != want {
		b.t.Errorf("%s %v:\n%s\nwant\n%s", name, a, r.Text, want)
	}
}

func (b *bench) fails(name string, a args, code, text string) {
	b.t.Helper()
	r := b.call(b.t.Context(), name, a)
	if !r.IsError || r.Code != code || !strings.HasPrefix(r.Text, "Error: "+text) {
		b.t.Errorf("%s %v:\n got %s: %s\nwant %s: Error: %s…", name, a, r.Code, r.Text, code, text)
	}
}

// put writes files in order, each a second younger than the one before.
func (b *bench) put(pairs ...string) {
	b.t.Helper()
	when := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(b.dir, pairs[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(pairs[i+1]), 0o644); err != nil {
			b.t.Fatal(err)
		}
		when = when.Add(time.Second)
		if err := os.Chtimes(path, when, when); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestT13_GlobFindsFilesNewestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("main.go", "", "a/x.go", "", "a/b/y.go", "", "a/b/y.md", "", ".hidden/z.go", "", ".git/config.go", "", "a/node_modules/m.go", "", "we[i]rd/{q}.go", "", "ü.go", "")
	if err := os.Symlink("main.go", filepath.Join(b.dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".", filepath.Join(b.dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe.go"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.gives("glob", args{"pattern": "**/*.go"}, "ü.go", "we[i]rd/{q}.go", ".hidden/z.go", "a/b/y.go", "a/x.go", "link.go", "main.go")
	b.gives("glob", args{"pattern": "*.go"}, "ü.go", "link.go", "main.go")
	b.gives("glob", args{"pattern": "a/**/*.{go,md}"}, "a/b/y.md", "a/b/y.go", "a/x.go")
	b.gives("glob", args{"pattern": "*/*.go"}, "we[i]rd/{q}.go", ".hidden/z.go", "a/x.go")
	b.gives("glob", args{"pattern": "*.md", "path": "a/b"}, "a/b/y.md")
	b.gives("glob", args{"pattern": "./b/../x.go", "path": "a"}, "a/x.go")
	b.gives("glob", args{"pattern": filepath.Join(b.dir, "a/*.go")}, "a/x.go")
	b.gives("glob", args{"pattern": "a/b/"}, "a/b/y.md", "a/b/y.go")
	b.gives("glob", args{"pattern": "main.go"}, "main.go")
	b.gives("glob", args{"pattern": "*.go", "path": "we[i]rd"}, "we[i]rd/{q}.go")
	b.gives("glob", args{"pattern": "a/node_modules/*.go"}, "a/node_modules/m.go") // named outright
	b.gives("glob", args{"pattern": "loop/*.md"}, "No files found")
	b.gives("glob", args{"pattern": "*.md", "path": "loop/a/b"}, "a/b/y.md")
	b.gives("glob", args{"pattern": "**/*.rs"}, "No files found")
	b.gives("glob", args{"pattern": "nowhere/*.go"}, "No files found")
	b.gives("glob", args{"pattern": "main.go/*.go"}, "No files found")
}

func TestT13_GlobSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("f.txt", "")
	b.fails("glob", args{"pattern": "[a"}, "BAD_PATTERN", `invalid pattern "[a": `)
	b.fails("glob", args{"pattern": "*.go", "path": "none"}, "NOT_FOUND", `cannot search "none": not found`)
	b.fails("glob", args{"pattern": "*.go", "path": "f.txt"}, "NOT_A_DIRECTORY", `cannot search "f.txt": not a directory`)
	b.fails("glob", args{"pattern": "~/*.go"}, "BAD_PATH", `cannot search "~": "~" is not expanded`)
	b.fails("glob", args{"pattern": "*.go", "path": "~/x"}, "BAD_PATH", `cannot search "~/x": "~" is not expanded`)
	b.fails("glob", args{"path": "."}, "INVALID_ARGUMENTS", "invalid arguments: ")
}

func TestT13_GlobShowsOneHundredOfMany(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var pairs, want []string
	for i := range 7000 { // more than are ever kept at once
		pairs = append(pairs, fmt.Sprintf("d%d/f%04d.txt", i%7, i), "")
	}
	b.put(pairs...)
	for i := range 100 {
		want = append(want, pairs[2*(6999-i)])
	}
	b.gives("glob", args{"pattern": "**/*.txt"}, append(want, "(Showing 100 of 7000 paths, the last modified ones. For the others use a narrower pattern, or a path below.)")...)
}

func TestT13_GrepFindsLines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put(
		"a.go", "package a\n\nfunc Alpha() {}\nfunc beta() {}\n",
		"sub/b.go", "func Gamma() {}\r\n// func\r\n",
		"sub/c.txt", "func in text",
		"bin.go", "func \x00 binary\n",
		"latin.txt", "fl\xfcchtig func\n",
		".git/d.go", "func hidden() {}\n",
		"node_modules/e.go", "func hidden() {}\n",
		".env", "func=1\n",
	)
	b.gives("grep", args{"pattern": "func"}, ".env:1: func=1", "a.go:3: func Alpha() {}", "a.go:4: func beta() {}", "latin.txt:1: fl\uFFFDchtig func",
		"sub/b.go:1: func Gamma() {}", "sub/b.go:2: // func", "sub/c.txt:1: func in text")
	b.gives("grep", args{"pattern": `^func [A-Z]\w+\(\) \{\}$`}, "a.go:3: func Alpha() {}", "sub/b.go:1: func Gamma() {}")
	b.gives("grep", args{"pattern": "FUNC (b|g)", "case_insensitive": true}, "a.go:4: func beta() {}", "sub/b.go:1: func Gamma() {}")
	b.gives("grep", args{"pattern": "FUNC"}, "No matches found")
	b.gives("grep", args{"pattern": "func", "include": "*.{txt,md}"}, "latin.txt:1: fl\uFFFDchtig func", "sub/c.txt:1: func in text")
	b.gives("grep", args{"pattern": "func", "include": "sub/**"}, "sub/b.go:1: func Gamma() {}", "sub/b.go:2: // func", "sub/c.txt:1: func in text")
	b.gives("grep", args{"pattern": "func", "path": "sub", "include": "*.go"}, "sub/b.go:1: func Gamma() {}", "sub/b.go:2: // func")
	b.gives("grep", args{"pattern": "func", "path": "sub/c.txt"}, "sub/c.txt:1: func in text")
	b.gives("grep", args{"pattern": "hidden", "path": "node_modules"}, "node_modules/e.go:1: func hidden() {}")
	b.gives("grep", args{"pattern": "^$", "path": "a.go"}, "a.go:2: ")
	b.gives("grep", args{"pattern": "x", "path": filepath.Join(b.dir, "sub")}, "sub/c.txt:1: func in text")
}

func TestT13_GrepShowsContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("f.txt", "1\n2\nhit 3\n4\n5\n6\n7\n8\nhit 9\nhit 10\n11\n12\n13\nhit 14", "g.txt", "hit 1\n2\n")
	b.gives("grep", args{"pattern": "hit", "context": 1},
		"f.txt-2- 2", "f.txt:3: hit 3", "f.txt-4- 4", "--", "f.txt-8- 8", "f.txt:9: hit 9", "f.txt:10: hit 10", "f.txt-11- 11", "--",
		"f.txt-13- 13", "f.txt:14: hit 14", "--", "g.txt:1: hit 1", "g.txt-2- 2")
	b.gives("grep", args{"pattern": "hit (9|14)", "context": 3},
		"f.txt-6- 6", "f.txt-7- 7", "f.txt-8- 8", "f.txt:9: hit 9", "f.txt-10- hit 10", "f.txt-11- 11", "f.txt-12- 12", "f.txt-13- 13", "f.txt:14: hit 14")
	b.fails("grep", args{"pattern": "hit", "context": 11}, "INVALID_ARGUMENTS", "invalid arguments: ")
}

func TestT13_GrepCutsLongLinesAndMatches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("a.txt", strings.Repeat("hit\n", 200), "b.txt", strings.Repeat("hit\nmiss\n", 100), "c.txt", "hit")
	r := b.call(t.Context(), "grep", args{"pattern": "hit"})
	lines := strings.Split(r.Text, "\n")
	if len(lines) != 251 || lines[249] != "b.txt:99: hit" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-2:])
	}
	if last := lines[len(lines)-1]; last != "(Showing 250 of 301 matching lines in 3 files. For the others narrow the pattern, or give path or include.)" {
		t.Errorf("footer %q", last)
	}

	b.put("a.txt", "x"+strings.Repeat("é", 5000)+"hit\n", "b.txt", strings.Repeat("z", 3<<20)+"hit\nhit\n", "c.txt", "")
	b.gives("grep", args{"pattern": "hit"}, "a.txt:1: x"+strings.Repeat("é", 999)+"… (line truncated to 2000 bytes)", "b.txt:2: hit",
		"(1 lines are longer than 1048576 bytes and were searched only that far.)")

	// Many long lines with context: the answer as a whole is bounded.
	b.put("b.txt", "", "a.txt", strings.Repeat(strings.Repeat("y", 3000)+"\n", 2000))
	r = b.call(t.Context(), "grep", args{"pattern": "y", "context": 10})
	if len(r.Text) > 600_000 || !strings.HasSuffix(r.Text, " of 2000 matching lines in 1 files. For the others narrow the pattern, or give path or include.)") {
		t.Errorf("%d bytes, …%s", len(r.Text), r.Text[len(r.Text)-150:])
	}
}

func TestT13_GrepSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("bin", "\x00", "f", "x")
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.fails("grep", args{"pattern": "(a"}, "BAD_PATTERN", `invalid pattern "(a": missing closing ): (a`)
	b.fails("grep", args{"pattern": "(a", "case_insensitive": true}, "BAD_PATTERN", `invalid pattern "(a": missing closing ): (a`)
	b.fails("grep", args{"pattern": "(?<=a)b"}, "BAD_PATTERN", `invalid pattern "(?<=a)b": `)
	b.fails("grep", args{"pattern": `(a)\1`}, "BAD_PATTERN", `invalid pattern "(a)\\1": invalid escape sequence: \1 (RE2 has no look-around and no back-references)`)
	b.fails("grep", args{"pattern": "a", "include": "{a"}, "BAD_PATTERN", `invalid include "{a": `)
	b.fails("grep", args{"pattern": "a", "path": "none"}, "NOT_FOUND", `cannot search "none": not found`)
	b.fails("grep", args{"pattern": "a", "path": "bin"}, "BINARY_FILE", `cannot search "bin": binary file`)
	b.fails("grep", args{"pattern": "a", "path": "pipe"}, "NOT_REGULAR", `cannot search "pipe": it is a named pipe`)
	b.gives("grep", args{"pattern": "x"}, "f:1: x") // the pipe in the tree is passed by
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(b.dir, "f"), 0); err != nil {
			t.Fatal(err)
		}
		b.gives("grep", args{"pattern": "x"}, "No matches found", `(Passed by, for they could not be read: "f" (permission denied). What is in them is not in this answer.)`)
	}
}

func TestT6_T13_ASearchStopsAtItsDeadline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, s := range b.tools.Specs() {
		if s.Timeout != 33*time.Second || s.Parallel {
			t.Errorf("%s: timeout %s, parallel %v", s.Name, s.Timeout, s.Parallel)
		}
	}
	b.put("a.txt", "hit\n", "z.txt", "text\n")
	if err := os.Truncate(filepath.Join(b.dir, "z.txt"), 1<<40); err != nil {
		t.Fatal(err)
	}
	// z.txt looks like text for 8 KiB, and then takes longer than anybody waits.
	b.put("z.txt", strings.Repeat("text\n", 2000))
	if err := os.Truncate(filepath.Join(b.dir, "z.txt"), 1<<40); err != nil {
		t.Fatal(err)
	}
	b.provider.SetDeadline(50 * time.Millisecond)
	b.gives("grep", args{"pattern": "hit"}, "a.txt:1: hit", "(Stopped after 50ms with part of the files looked at; narrow path, include or pattern for the whole answer.)")
	b.fails("grep", args{"pattern": "nothing"}, "TOOL_TIMEOUT", "tool call timed out after 50ms and had found nothing by then; narrow path, include or pattern")
	b.provider.SetDeadline(0)
	b.fails("glob", args{"pattern": "*"}, "TOOL_TIMEOUT", "tool call timed out after 0ms")
}

func TestT5_ASearchStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("z.txt", strings.Repeat("text\n", 2000))
	if err := os.Truncate(filepath.Join(b.dir, "z.txt"), 1<<40); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if r := b.call(ctx, "grep", args{"pattern": "text"}); r.Text != "Error: tool call aborted" || !r.IsError {
		t.Errorf("got %+v", r)
	}
}

func TestT13_PathsOutsideTheWorkspaceAreWhole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "o.txt"), []byte("hit\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.gives("glob", args{"pattern": outside + "/*"}, outside+"/o.txt")
	b.gives("grep", args{"pattern": "hit", "path": outside}, outside+"/o.txt:1: hit")
}

func BenchmarkGrep(b *testing.B) {
	dir := b.TempDir()
	text := []byte(strings.Repeat("a line of ordinary length, as code has them\n", 25_000))
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	p := search.New()
	if err := p.Open(b.Context(), compaction.Session{ID: "s", Workspace: dir}); err != nil {
		b.Fatal(err)
	}
	for name, pattern := range map[string]string{"literal": "nowhere", "prefix": `nowhere\d+`, "class": `\w+Error\b`, "fold": "(?i)nowhere", "anchored": `^func \w+`} {
		b.Run(name, func(b *testing.B) {
			arguments, _ := json.Marshal(args{"pattern": pattern})
			b.SetBytes(int64(20 * len(text)))
			for b.Loop() {
				if r, err := p.Call(b.Context(), tool.Call{Session: "s", Name: "grep", Arguments: arguments}, nil); err != nil || r.Text != "No matches found" {
					b.Fatal(r.Text, err)
				}
			}
		})
	}
}
