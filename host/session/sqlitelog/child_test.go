package sqlitelog_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// childVar names what this binary does instead of its tests.
const childVar = "SQLITELOG_TEST_CHILD"

var children = map[string]func(dir string) error{
	"append":   childAppend,
	"hold":     childHold,
	"readonly": childReadOnly,
	"post":     childPost,
	"serve":    childServe,
	"remove":   childRemove,
	"fill":     childFill,
	"tight":    childTight,
	"full":     childFull,
	"import":   childImport,
	"rounds":   childRounds,
	"flat":     childFlat,
	"search":   childSearch,
}

func TestMain(m *testing.M) {
	if run := children[os.Getenv(childVar)]; run != nil {
		if err := run(os.Getenv("DIR")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is a running process of this binary.
type child struct {
	*exec.Cmd
	lines *bufio.Scanner
	stdin io.Closer
}

func start(t *testing.T, name, dir string, uid uint32) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	if uid != 0 {
		cmd.Path = publicCopy(t, exe)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	cmd.Env = append(os.Environ(), childVar+"="+name, "DIR="+dir)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &child{cmd, bufio.NewScanner(stdout), stdin}
}

// publicCopy puts a file where every user can run it.
func publicCopy(t *testing.T, path string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sqlitelog")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "child")
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// line reads one line of the child's output.
func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("the child says nothing: %v", c.lines.Err())
	}
	return c.lines.Text()
}

// childAppend makes session a, or takes it, and appends for ever. It prints each
// head that was acknowledged.
func childAppend(dir string) error {
	ctx := context.Background()
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	log, err := store.Open(ctx, "a")
	if err != nil {
		log, err = store.Create(ctx, session.Created{ID: "a"})
	}
	if err != nil {
		return err
	}
	return appendForEver(ctx, log)
}

func appendForEver(ctx context.Context, log session.Log) error {
	head, err := log.Head(ctx)
	for err == nil {
		fmt.Println(head)
		var b session.Batch
		for range batch {
			b.Events = append(b.Events, session.New("x", head+int64(len(b.Events))+1))
		}
		b.Head, b.Snapshot = head, fmt.Append(nil, head+batch)
		head, err = log.Append(ctx, b)
	}
	return err
}

// childHold owns session a until its input ends.
func childHold(dir string) error {
	ctx := context.Background()
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	log, err := store.Open(ctx, "a")
	if err != nil {
		return err
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	return log.Close()
}

// childReadOnly does what it may where it may not write, and prints one line for
// each call.
func childReadOnly(dir string) error {
	ctx := context.Background()
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	say := func(v any, err error) {
		if err != nil {
			v = "error: " + err.Error()
		}
		fmt.Println(strings.ReplaceAll(fmt.Sprint(v), "\n", " "))
	}
	_, err = store.Create(ctx, session.Created{ID: "b"})
	say("", err)
	_, err = store.Open(ctx, "a")
	say("", err)
	say("", store.Post(ctx, "a", session.Mail{Command: session.CommandCancel}))
	say("", store.Remove(ctx, "a"))
	list, err := store.List(ctx)
	say(len(list), err)
	view, err := store.View(ctx, "a")
	if err != nil {
		say("", err)
		return nil
	}
	n := 0
	for _, err = range view.Read(ctx, session.Query{}) {
		if n++; err != nil {
			break
		}
	}
	say(n, err)
	return view.Close()
}
