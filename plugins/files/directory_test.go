package files_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/files"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

func TestT22_WorkingDirectoryTellsAndAsks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("sub/deep/f", "x")
	b.link("sub/deep", "link")
	if got := b.call("working_directory", args{}); got.Text != "The working directory is "+b.dir || got.Effects != nil {
		t.Errorf("%+v", got)
	}
	for path, to := range map[string]string{"sub": "sub", "link": "sub/deep", "sub/../sub/deep/": "sub/deep", b.path("sub"): "sub"} {
		r := b.call("working_directory", args{"path": path})
		want := "The working directory is " + b.path(to) + " from the next step on; it was " + b.dir
		if r.Text != want || r.IsError || !slices.Equal(r.Effects, []tool.Effect{tool.EffectChangeDirectory}) || r.Note != b.path(to) {
			t.Errorf("%s: %+v", path, r)
		}
	}
	// The host says where tools start from then, and paths follow.
	if err := b.services.Sessions.Open(t.Context(), compaction.Session{ID: "s", Workspace: b.dir, Directory: b.path("sub")}); err != nil {
		t.Fatal(err)
	}
	b.ok("read", args{"file_path": "deep/f"})
	if r := b.call("working_directory", args{"path": "deep"}); r.Note != b.path("sub/deep") {
		t.Errorf("%+v", r)
	}
	if r := b.call("working_directory", args{"path": ".."}); r.Note != b.dir {
		t.Errorf("%+v", r)
	}
	if r := b.call("working_directory", args{"path": "."}); r.Text != "The working directory is "+b.path("sub")+" already" || r.Effects != nil {
		t.Errorf("%+v", r)
	}
}

func TestT22_WorkingDirectoryHasToBeOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("file", "x")
	b.link("nowhere", "dangling")
	if err := syscall.Mkfifo(b.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]string{
		"none": {"NOT_FOUND", `cannot change to "none": not found`}, "dangling": {"NOT_FOUND", `cannot change to "dangling": not found`},
		"file": {"NOT_A_DIRECTORY", `cannot change to "file": not a directory`}, "fifo": {"NOT_A_DIRECTORY", `cannot change to "fifo": not a directory`},
		"~": {"BAD_PATH", `cannot change to "~": "~" is not expanded`}, "a\x00": {"BAD_PATH", `cannot change to "a\x00": the path contains a NUL byte`},
	} {
		b.fails("working_directory", args{"path": path}, want[0], want[1])
		if r := b.call("working_directory", args{"path": path}); r.Effects != nil || r.Note != "" {
			t.Errorf("%s: %+v", path, r)
		}
	}
}

// Over the wire the effect and its note arrive.
func TestT22_TheEffectCrossesTheWire(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := plugintest.Run(t, files.Plugin("test"), plugintest.Host{Sessions: []compaction.Session{{ID: "s", Workspace: dir, Directory: os.TempDir()}}})
	r, err := p.Tools().Call(t.Context(), tool.Call{Session: "s", Name: "working_directory", Arguments: []byte(`{"path": "` + dir + `"}`)}, nil)
	if err != nil || r.Note != dir || !slices.Equal(r.Effects, []tool.Effect{tool.EffectChangeDirectory}) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestT22_PresentListsWhatIsThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("report.md", "four")
	b.put("data/table.csv", "")
	b.link("report.md", "link")
	got := b.ok("present", args{"paths": []string{"report.md", b.path("data/table.csv"), "link"}, "note": " The table is empty.\n"})
	if want := "Presented to the user:\n" + b.path("report.md") + " (4 bytes)\n" + b.path("data/table.csv") + " (0 bytes)\n" + b.path("link") + " (4 bytes)\nThe table is empty."; got != want {
		t.Errorf("got %q", got)
	}
	b.fails("present", args{"paths": []string{"report.md", "none", "data", ""}}, "NOT_PRESENTED",
		"cannot present \"none\": not found\ncannot present \"data\": it is a directory\ncannot present \"\": the path is empty\nNothing was presented; call present again with files that exist.")
	b.fails("present", args{"paths": []string{}}, "INVALID_ARGUMENTS", "invalid arguments: ")
	b.fails("present", args{}, "INVALID_ARGUMENTS", "invalid arguments: ")
}
