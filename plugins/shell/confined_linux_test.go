package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/internal/confine"
)

const (
	denied   = "[file policy: access denied under workspace-write]"
	nextStep = "Do not try another way. If the task cannot be done otherwise and approvals are possible here, repeat exactly this command once with file_policy \"full\" and a justification; else go on without it and say what is missing."
	stop     = "Do not try another way. Stop, and say what you would have done and why the task needs it."
)

// walled is the plugin on a workspace that is not for temporary files, with a file
// outside of it.
func walled(t *testing.T) (c *crew, outside string) {
	t.Helper()
	if _, ok := confine.Enforced(); !ok {
		t.Fatal("this kernel has no Landlock: the tests of confinement need Linux 5.13 with landlock in its list of LSMs")
	}
	base, err := os.MkdirTemp("/var/tmp", "walled")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	outside = filepath.Join(base, "outside")
	if err := os.WriteFile(outside, []byte("precious\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(base, "ws"), 0o700); err != nil {
		t.Fatal(err)
	}
	return reopen(t, `{}`, filepath.Join(base, "ws"), &ledger{}), outside
}

func (c *crew) within(policy session.FilePolicy, a args, lines ...string) {
	c.t.Helper()
	r := c.use(c.t.Context(), "shell", session.Confinement{Files: policy}, a)
	if want := strings.Join(lines, "\n"); r.Text != want {
		c.t.Errorf("%s %v:\n%s\nwant\n%s", policy, a, r.Text, want)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("%s holds %q, %v", path, data, err)
	}
}

func TestT17_ADenialSaysWhatToDoNext(t *testing.T) {
	t.Parallel()
	c, out := walled(t)
	c.within(session.FilesWorkspaceWrite, args{"command": "echo in > file; cat file " + out}, "in", "precious")
	c.within(session.FilesWorkspaceWrite, args{"command": "echo x > " + out},
		"[stderr]", c.bashSays(out), "[exit code: 1]", denied, nextStep)
	c.within(session.FilesWorkspaceWrite, args{"command": "echo x > " + out, "file_policy": "full", "justification": "It has to be."},
		"[stderr]", c.bashSays(out), "[exit code: 1]", denied, stop)
	holds(t, out, "precious\n")
	// The last command of the line may have gone well.
	c.within(session.FilesWorkspaceWrite, args{"command": "echo x > " + out + "; echo done"}, "done", "[stderr]", c.bashSays(out), denied, nextStep)
	// The next wider policy is named, and no other after that.
	c.within(session.FilesReadOnly, args{"command": "echo x > file"}, "[stderr]", c.bashSays("file"), "[exit code: 1]",
		"[file policy: access denied under read-only]", strings.Replace(nextStep, "full", "workspace-write", 1))
	c.within(session.FilesReadOnly, args{"command": "echo x > file", "file_policy": "workspace-write", "justification": "It has to be."},
		"[stderr]", c.bashSays("file"), "[exit code: 1]", "[file policy: access denied under read-only]", stop)
	c.within(session.FilesWorkspaceWrite, args{"command": "echo x > " + out, "file_policy": "workspace-write", "justification": "It has to be."},
		"[stderr]", c.bashSays(out), "[exit code: 1]", denied, nextStep)
	// A failure of another kind says nothing of a policy; neither does a success that
	// only speaks of it.
	c.within(session.FilesWorkspaceWrite, args{"command": "cat none 2>&1"}, "cat: none: No such file or directory", "[exit code: 1]")
	c.within(session.FilesWorkspaceWrite, args{"command": "echo Permission denied"}, "Permission denied")
	c.within(session.FilesFull, args{"command": "echo Permission denied >&2; exit 1"}, "[stderr]", "Permission denied", "[exit code: 1]")
	// The call that was granted it may.
	c.within(session.FilesFull, args{"command": "echo x > " + out, "file_policy": "full", "justification": "It has to be."}, "(no output)")
	holds(t, out, "x\n")
}

func (c *crew) bashSays(path string) string {
	return "/usr/bin/bash: line 1: " + path + ": Permission denied"
}

func TestT17_ReadOnlyHasAPrivatePlaceForTemporaryFiles(t *testing.T) {
	t.Parallel()
	c, out := walled(t)
	r := c.use(t.Context(), "shell", session.Confinement{Files: session.FilesReadOnly}, args{"command": "f=$(mktemp) && echo tmp > $f && cat $f && echo $f; cat <<< here; echo x > file"})
	lines := strings.Split(r.Text, "\n")
	if len(lines) < 6 || lines[0] != "tmp" || lines[2] != "here" || !strings.Contains(r.Text, "\n[exit code: 1]\n[file policy: access denied under read-only]\n") {
		t.Fatal(r.Text)
	}
	if _, err := os.Stat(lines[1]); err != nil || !strings.Contains(lines[1], "/tureen-shell-") {
		t.Errorf("the temporary file %s: %v", lines[1], err)
	}
	info, err := os.Stat(filepath.Dir(lines[1]))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its directory: %v, %v", info, err)
	}
	c.within(session.FilesWorkspaceWrite, args{"command": "echo ${TMPDIR-none}"}, or(os.Getenv("TMPDIR"), "none"))
	holds(t, out, "precious\n")
	if entries, _ := os.ReadDir(c.dir); len(entries) > 0 {
		t.Errorf("the workspace has %v", entries)
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// A job is bound like any other command, also one that was moved and one that
// outlives the session; and it ends with its group.
func TestT17_JobsAreBoundToo(t *testing.T) {
	t.Parallel()
	c, out := walled(t)
	bound := session.Confinement{Files: session.FilesWorkspaceWrite}
	write := untilGo + "echo x > " + out
	attack := "sleep 1000 & echo $$ $! >> pids; " + write
	c.use(t.Context(), "shell", bound, args{"command": attack, "run_in_background": true})
	c.use(t.Context(), "shell", bound, args{"command": attack, "timeoutMs": 50})
	started := c.use(t.Context(), "shell", bound, args{"command": write, "run_in_background": true, "outlive_session": true}).Text
	file := strings.TrimSuffix(strings.Fields(started[strings.Index(started, "output in "):])[2], ".")
	t.Cleanup(func() { os.Remove(file) })
	c.put("go", "")
	for _, id := range []string{"job-1", "job-2", "job-3"} {
		text := c.ok("job_output", args{"id": id, "wait": true})
		if want := c.bashSays(out) + "\n[status: exit code: 1]\n" + denied + "\n" + nextStep; text != want {
			t.Errorf("%s: %s", id, text)
		}
	}
	holds(t, out, "precious\n")
	c.settled()
	for _, pid := range c.pids("pids", 4) {
		c.gone(pid)
	}
}

// The workspace is the bound, wherever the tools start from now.
func TestT17_TheBoundIsTheWorkspaceNotTheDirectory(t *testing.T) {
	t.Parallel()
	c, out := walled(t)
	s := c.host.Sessions[0]
	s.Directory = filepath.Dir(out)
	if err := c.running.OpenSession(t.Context(), compaction.Session{ID: s.ID, Workspace: s.Workspace, Directory: s.Directory, Access: s.Access}); err != nil {
		t.Fatal(err)
	}
	c.within(session.FilesWorkspaceWrite, args{"command": "pwd; echo x > ws/f; cat ws/f"}, s.Directory, "x")
	c.within(session.FilesWorkspaceWrite, args{"command": "echo x > outside"}, "[stderr]", c.bashSays("outside"), "[exit code: 1]", denied, nextStep)
	holds(t, out, "precious\n")
}

func TestT17_OfflineIsSaidSo(t *testing.T) {
	t.Parallel()
	c, _ := walled(t)
	r := c.use(t.Context(), "shell", session.Confinement{Offline: true}, args{"command": "echo x > /dev/udp/127.0.0.1/9"})
	const note = "\n[network policy: connections are not allowed]\nDo not try another way. Go on without it, and say what is missing."
	if !strings.HasSuffix(r.Text, "\n[exit code: 1]"+note) {
		t.Error(r.Text)
	}
	// Where files are bound too, it is still the connection that was denied.
	r = c.use(t.Context(), "shell", session.Confinement{Files: session.FilesReadOnly, Offline: true}, args{"command": "echo x > /dev/udp/127.0.0.1/9; true"})
	if !strings.HasSuffix(r.Text, note) || strings.Contains(r.Text, "file") {
		t.Error(r.Text)
	}
}

// In a subagent nobody can be asked: a denial does not say so.
func TestT17_ASubagentIsNotToldToAsk(t *testing.T) {
	t.Parallel()
	c, out := walled(t)
	s := c.host.Sessions[0]
	s.Parent = "p"
	if err := c.running.OpenSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	c.within(session.FilesWorkspaceWrite, args{"command": "echo x > " + out}, "[stderr]", c.bashSays(out), "[exit code: 1]", denied, stop)
}

// A command that may write where temporary files are puts a symlink in the place of the
// private directory: what is read-only stays so.
func TestT17_AReplacedPrivateDirectoryIsNotLent(t *testing.T) {
	t.Parallel()
	c, out := walled(t)
	documents := filepath.Dir(out)
	private := c.use(t.Context(), "shell", session.Confinement{Files: session.FilesReadOnly}, args{"command": "echo $TMPDIR"}).Text
	if !strings.HasPrefix(private, os.TempDir()) {
		t.Fatalf("TMPDIR is %q", private)
	}
	t.Cleanup(func() { os.Remove(private); os.RemoveAll(private + ".aside") })
	c.within(session.FilesWorkspaceWrite, args{"command": "mv " + private + " " + private + ".aside && ln -s " + documents + " " + private}, "(no output)")
	r := c.use(t.Context(), "shell", session.Confinement{Files: session.FilesReadOnly}, args{"command": "echo x > " + out + "; echo ran > " + documents + "/ws/ran"})
	if !strings.Contains(r.Text, "was moved or replaced") || !strings.Contains(r.Text, "[exit code: 126]") {
		t.Errorf("%+v", r)
	}
	holds(t, out, "precious\n")
	if _, err := os.Lstat(documents + "/ws/ran"); err == nil {
		t.Error("the command ran")
	}
}
