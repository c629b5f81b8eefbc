package instructions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/hook"
)

func TestSP6_DeeperFilesAreShownOnFirstTouch(t *testing.T) {
	t.Parallel()
	h := build(t, map[string]string{
		"p/AGENTS.md": "rule of p", "p/a/AGENTS.md": "rule of a", "p/a/b/CLAUDE.md": "rule of b", "p/a/b/c/x.go": "", "p/d/AGENTS.md": "rule of d", "p/e/AGENTS.md": "rule of e", "p/f/AGENTS.md": "rule of f",
		"out/AGENTS.md": "rule of out", "p/node_modules/m/AGENTS.md": "rule of a dependency", "p/clone/.git/HEAD": "", "p/clone/AGENTS.md": "rule of another repository",
	}).start("p", `{}`)
	h.context("agents-md")
	inOrder(t, h.touch("read", "file_path", "a/b/c/x.go"), "<workspace-instructions>", "apply to work under", h.path("p/a/b"), h.path("p/a/AGENTS.md"), "rule of a", "rule of b", "</workspace-instructions>")
	for _, again := range []string{h.touch("read", "file_path", "a/b/c/x.go"), h.touch("edit", "file_path", h.path("p/a/y")), h.touch("read", "file_path", "x"), h.touch("grep", "path", "a"),
		h.touch("shell", "command", "cat d/x"), h.touch("read", "path", "d/x"), h.touch("read", "file_path", "../out/x"), h.touch("read", "file_path", "node_modules/m/x"),
		h.touch("read", "file_path", "clone/x"), h.touch("read", "file_path", "d\x00"), h.touch("read", "file_path", ""),
		h.outcome(hook.ToolOutcome{Name: "read", Arguments: `{"file_path":"d/x"}`, IsError: true}), h.outcome(hook.ToolOutcome{Name: "read", Arguments: `{"file_path":7}`}), h.outcome(hook.ToolOutcome{Name: "read", Arguments: `{"fi`}),
		h.touch("read", "file_path", "e/AGENTS.md"), h.touch("read", "file_path", "e/x"), // its text was just read
	} {
		if again != "" {
			t.Errorf("said again, or of what was not touched: %s", again)
		}
	}
	inOrder(t, h.touch("glob", "path", "d"), "rule of d")
	inOrder(t, h.touch("write", "file_path", h.path("p/f/new.go")), "rule of f")
	h.meter.compact()
	h.context("agents-md")
	inOrder(t, h.touch("read", "file_path", "a/x"), "rule of a") // the old message is gone
	h.move("p", "p/d")
	inOrder(t, h.context("agents-md"), "rule of p", "rule of d")
	if got := h.touch("read", "file_path", "x"); got != "" {
		t.Errorf("what the chain shows is shown again: %s", got)
	}
	inOrder(t, h.touch("read", "file_path", "../e/x"), "rule of e")
}

func TestSP6_DeeperFilesShareOneBudget(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("p/d%02d/AGENTS.md", i)] = fmt.Sprint("rule ", i, strings.Repeat(" word", 400))
	}
	h := build(t, files).start("p", `{"max_bytes":8192}`)
	h.context("agents-md")
	total, notices := 0, 0
	for i := range 30 {
		text := h.touch("read", "file_path", fmt.Sprintf("d%02d/x", i))
		total += len(text)
		if strings.Contains(text, "no room to show them") {
			notices++
		}
	}
	if total > 9000 || notices != 1 {
		t.Errorf("%d bytes and %d notices", total, notices)
	}
}
