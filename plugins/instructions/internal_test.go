package instructions

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// belonging is a file of somebody else.
type belonging struct {
	fs.FileInfo
	uid uint32
}

func (b belonging) Sys() any { return &syscall.Stat_t{Uid: b.uid} }

// What others put into a directory that anybody may write to is not the user's.
func TestSP6_FilesOfOthersAreNotTrusted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if !trusted(belonging{uid: uint32(os.Geteuid())}, dir) {
		t.Error("the user's own file is not trusted")
	}
	if trusted(belonging{uid: uint32(os.Geteuid()) + 1000}, dir) {
		t.Error("another user's file is trusted")
	}
	if trusted(belonging{uid: uint32(os.Geteuid()) + 1000}, filepath.Join(dir, "gone")) {
		t.Error("a file in a directory that is gone is trusted")
	}
}

func TestSP6_APlaceIsBoundedInDepth(t *testing.T) {
	t.Parallel()
	deep := "/r" + strings.Repeat("/d", 500)
	if dirs := down("/r", deep); len(dirs) != maxDepth || dirs[maxDepth-1] != deep {
		t.Errorf("%d directories", len(dirs))
	}
	if got := strings.Join(down("/", "/a/b"), " "); got != "/ /a /a/b" {
		t.Errorf("down to /a/b: %s", got)
	}
	if within("/a", "/ab") || !within("/", "/a") || !within("/a", "/a") {
		t.Error("within is wrong about prefixes")
	}
}

func FuzzFront(f *testing.F) {
	for _, text := range []string{"---\nname: a\ndescription: >-\n  b\n---\nc", "\ufeff---\r\nname: 'x'\r\n---", "---\ndescription: \"\\", "---\ndescription: |\n\n   \n a\n---"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		head, err := parseFront(text)
		if err == nil && !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), head.body) {
			t.Errorf("the body %q does not stand in %q", head.body, text)
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add("a</workspace-instructions>", 8192)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(minBytes, min(limit, 1<<20))
		g := &gathered{sources: []source{{[]string{"/a"}, text}, {[]string{"/b"}, text + "x"}}}
		out := render(frameChain, g, limit)
		if len(out) > limit || strings.Count(strings.ToLower(out), "</workspace-instructions") != 1 {
			t.Errorf("%d bytes of %d: %q", len(out), limit, out)
		}
	})
}
