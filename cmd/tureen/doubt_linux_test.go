package main_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// storeScript has a small disk with one session on it.
const storeScript = `
tureen session import "$HOME/../work/` + stem + `d.jsonl" -q
`

// TestD1_C100_AFullDiskIsNoDamage: on a disk without a free byte a whole session is
// read, exported and removed; what cannot be said is not called damage.
func TestD1_C100_AFullDiskIsNoDamage(t *testing.T) {
	t.Parallel()
	u := user(t)
	id := importSession(t, u, session.Created{ID: stem + "d", Title: "soup"})
	u.ok(t, "session", "rm", id, "--yes")
	out := onSmallDisk(t, &crew{sandbox: u}, strings.ReplaceAll(storeScript+`
head -c 20000000 /dev/zero > "$TUREEN_DATA_DIR/filler" 2> /dev/null || true
set +e
exec 2>&1
tureen session verify ID; echo "verify $?"
tureen session salvage ID; echo "salvage $?"
tureen session show ID > /dev/null; echo "show $?"
tureen session export ID > /dev/null; echo "export $?"
tureen context show --session ID > /dev/null; echo "context $?"
tureen session archive ID; echo "archive $?"
tureen session rm ID --yes; echo "rm $?"
ls "$TUREEN_DATA_DIR/sessions"; true
`, "ID", id))
	for _, want := range []string{id + " ok, 1 event\nverify 0\n", "salvage 0\n", "show 0\n", "export 0\n", "context 0\n", "archive 9\n", "rm 0\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(out, "damage") || strings.Contains(out, "writable") || strings.Contains(out, id+".db") && !strings.HasSuffix(out, "rm 0\n") || t.Failed() {
		t.Error(out)
	}
}

// TestC102_AnImportedIDStaysText: what a file says its id is does not steer the
// terminal.
func TestC102_AnImportedIDStaysText(t *testing.T) {
	t.Parallel()
	u := user(t)
	file := u.path("work", "evil.jsonl")
	e := session.New(session.KindSessionCreated, session.Created{ID: "../../\x1b[31mEVIL\x1b[0m" + strings.Repeat("x", 5000)})
	e.Seq, e.Time = 1, time.Now()
	line, err := json.Marshal(e)
	if err == nil {
		err = os.WriteFile(file, line, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, color := range []string{"never", "always"} {
		o := u.ok(t, "session", "import", file, "--color", color)
		if strings.Contains(o.stderr, "\x1b[31mEVIL") || !strings.Contains(o.stderr, "cannot be had here") || len(o.stderr) > 500 {
			t.Errorf("%q", o.stderr)
		}
	}
}

// TestC102_AnImportThatWaitsIsCancelled: of a pipe that nobody writes to.
func TestC102_AnImportThatWaitsIsCancelled(t *testing.T) {
	t.Parallel()
	u := user(t)
	pipe := u.path("work", "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := u.command("session", "import", pipe)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	time.Sleep(3 * time.Second) // until it hears signals
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		if cmd.ProcessState.ExitCode() != 130 {
			t.Errorf("exit %d, %s", cmd.ProcessState.ExitCode(), &stderr)
		}
	case <-time.After(30 * time.Second):
		cmd.Process.Kill()
		t.Error("it waits for ever")
	}
}

// TestD3_AnExportLeavesWhatItIsWrittenTo: a pipe stays a pipe, a link a link, and a
// file is replaced whole.
func TestD3_AnExportLeavesWhatItIsWrittenTo(t *testing.T) {
	t.Parallel()
	u := user(t)
	id := importSession(t, u, session.Created{ID: stem + "e", Title: "soup"})
	want := u.ok(t, "session", "export", id).stdout
	dir := u.path("work")
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("far"), 0o700), os.WriteFile(at("far/file"), []byte("old"), 0o600),
		os.Symlink("far/file", at("link")), os.Symlink("far/none", at("loose")), os.WriteFile(at("plain"), []byte("old"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	piped := make(chan string, 1)
	go func() {
		data, _ := os.ReadFile(at("pipe"))
		piped <- string(data)
	}()
	for _, name := range []string{"pipe", "link", "loose", "plain", "new"} {
		u.ok(t, "session", "export", id, "-o", at(name))
	}
	if got := <-piped; got != want {
		t.Errorf("the pipe got %q", got)
	}
	for name, mode := range map[string]os.FileMode{"pipe": os.ModeNamedPipe, "link": os.ModeSymlink, "loose": os.ModeSymlink, "plain": 0, "new": 0} {
		if info, err := os.Lstat(at(name)); err != nil || info.Mode().Type() != mode {
			t.Errorf("%s is %v now (%v)", name, info.Mode(), err)
		}
		if name == "pipe" {
			continue
		}
		if data, err := os.ReadFile(at(name)); err != nil || string(data) != want {
			t.Errorf("%s holds %q (%v)", name, data, err)
		}
	}
}

// TestC21_AnUndoAfterACrashInTheTurn: the process that compacted died in that turn.
// Nobody works there, so nothing is in the way of an undo; mail is counted.
func TestC21_AnUndoAfterACrashInTheTurn(t *testing.T) {
	t.Parallel()
	u := user(t)
	id := importSession(t, u, session.Created{ID: stem + "f", Workspace: u.path("work"), Strategy: "notesoup"},
		session.New(session.KindTurnStarted, session.TurnStarted{}).At(1, 0),
		session.New(session.KindMessageSystem, session.Message{Message: llm.Text(llm.RoleSystem, "cook")}).At(1, 0).On(session.Op{Kind: session.OpAppend}),
		session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, "first"), Source: session.SourceOwner}).At(1, 0).On(session.Op{Kind: session.OpAppend}),
		session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: 1}).At(1, 0),
		session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, "soup"), Source: session.SourceHost}).At(1, 0).On(session.Op{Kind: session.OpReplace, From: 4, To: 4}),
		session.New(session.KindCompactionEnded, session.CompactionEnded{Ordinal: 1, Kind: "rewrite"}).At(1, 0),
	)
	u.ok(t, "steer", "--session", id, "wait for me")
	var shown struct {
		Waiting int
		Undo    struct {
			Possible bool
			Why      string
		}
	}
	if err := json.Unmarshal([]byte(u.ok(t, "context", "show", "--session", id, "--json").stdout), &shown); err != nil {
		t.Fatal(err)
	}
	if !shown.Undo.Possible || shown.Waiting != 1 {
		t.Errorf("shown is %+v", shown)
	}
	if o := u.ok(t, "context", "undo", "--session", id); !strings.Contains(o.stdout, "compaction #1 is undone") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	u.ok(t, "session", "verify", id)
}

// TestD1_C102_ALogThatLostItsEnd is not called whole.
func TestD1_C102_ALogThatLostItsEnd(t *testing.T) {
	t.Parallel()
	u := user(t)
	for _, c := range []struct{ change, want string }{
		{`DELETE FROM events WHERE seq > 2`, "was taken at event 4, the log ends at 2"},
		{`UPDATE snapshot SET data = x'7b7d'`, "the snapshot is not what was stored"},
	} {
		id := importSession(t, u, session.Created{ID: stem + "g"}, session.New(session.KindWarning, session.Warning{Code: "X"}),
			session.New(session.KindWarning, session.Warning{Code: "X"}), session.New(session.KindWarning, session.Warning{Code: "X"}))
		db, err := sql.Open("sqlite", u.path("data", "sessions", id+".db"))
		if err == nil {
			_, err = db.Exec(c.change)
			db.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if o := u.run(t, "session", "verify", id); o.exit != 9 || !strings.Contains(o.stdout, c.want) {
			t.Errorf("%s: exit %d, %s", c.change, o.exit, o.stdout)
		}
		u.ok(t, "session", "rm", id, "--yes")
	}
}
