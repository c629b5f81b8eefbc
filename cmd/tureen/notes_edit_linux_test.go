package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// noted is a user with a session; its editor is ./edit.sh, which adds the line $LINE,
// says so and waits to be let go.
func noted(t *testing.T) *sandbox {
	t.Helper()
	u := user(t)
	withModel(answers())(t, u)
	u.ok(t, known()...)
	write(t, u.path("work", "edit.sh"), "#!/bin/sh\necho \"$LINE\" >> \"$1\"\n: > \"ready-$LINE\"\nwhile [ ! -e go ]; do sleep 0.05; done\n")
	if err := os.Chmod(u.path("work", "edit.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	return u
}

// editing starts an edit of a note and waits until the editor has changed the text.
func editing(t *testing.T, u *sandbox, address, line string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd, stderr := u.command("notes", "edit", address), &bytes.Buffer{}
	cmd.Env = append(u.env[:len(u.env):len(u.env)], "EDITOR=./edit.sh", "LINE="+line)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForFile(t, u.path("work", "ready-"+line))
	return cmd, stderr
}

func waitForFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come", path)
		}
	}
}

// from writes a note as a script does.
func from(t *testing.T, u *sandbox, text string, args ...string) outcome {
	t.Helper()
	cmd := u.command(append([]string{"notes", "edit", "--from", "-"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &stdout, &stderr
	_ = cmd.Run()
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

var (
	keptIn  = regexp.MustCompile(`; your text is in (\S+)`)
	mergeBy = regexp.MustCompile(`then tureen (notes edit .*)`)
)

// TestN8_TwoPeopleEditAtOnce: one of them is written, the other is told, keeps the
// text, and gets it in by what the error says.
func TestN8_TwoPeopleEditAtOnce(t *testing.T) {
	t.Parallel()
	u := noted(t)
	if o := from(t, u, "begun\n", "@human/list"); o.exit != 0 {
		t.Fatalf("%+v", o)
	}
	one, said := editing(t, u, "@human/list", "one")
	two, also := editing(t, u, "@human/list", "two")
	write(t, u.path("work", "go"), "")
	errOne, errTwo := one.Wait(), two.Wait()
	if (errOne == nil) == (errTwo == nil) {
		t.Fatalf("%v, %v\n%s%s", errOne, errTwo, said, also)
	}
	won, lost, told := "one", "two", also.String()
	if errOne != nil {
		won, lost, told = "two", "one", said.String()
	}
	if !strings.Contains(told, "@human/list.md was changed by somebody else meanwhile (rev=") {
		t.Errorf("told: %s", told)
	}
	if o := u.ok(t, "notes", "show", "@human/list"); o.stdout != "begun\n"+won+"\n" {
		t.Errorf("the note: %q", o.stdout)
	}
	file, merge := keptIn.FindStringSubmatch(told), mergeBy.FindStringSubmatch(told)
	if file == nil || merge == nil {
		t.Fatalf("told: %s", told)
	}
	if kept, err := os.ReadFile(file[1]); err != nil || string(kept) != "begun\n"+lost+"\n" {
		t.Errorf("kept: %q, %v", kept, err)
	}
	write(t, file[1], "begun\n"+won+"\n"+lost+"\n")
	u.ok(t, strings.Fields(merge[1])...)
	if o := u.ok(t, "notes", "show", "@human/list"); o.stdout != "begun\n"+won+"\n"+lost+"\n" {
		t.Errorf("merged: %q", o.stdout)
	}
	if err := os.RemoveAll(filepath.Dir(file[1])); err != nil {
		t.Error(err)
	}
	if o := u.ok(t, "notes", "log", "@human/list", "--json"); strings.Count(o.stdout, `"rev"`) != 3 {
		t.Errorf("versions: %s", o.stdout)
	}
}

// TestN8_AKillWhileTheEditorIsOpenLosesNothing: the home is not held, the note is as
// it was, and what was typed is still in its file.
func TestN8_AKillWhileTheEditorIsOpenLosesNothing(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			u := noted(t)
			if o := from(t, u, "begun\n", "@human/list"); o.exit != 0 {
				t.Fatalf("%+v", o)
			}
			cmd, told := editing(t, u, "@human/list", "typed")
			if o := from(t, u, "other\n", "@human/other"); o.exit != 0 {
				t.Errorf("the home is held: %+v", o)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if signal != syscall.SIGTERM { // that one ends the editor too
				write(t, u.path("work", "go"), "")
			}
			err := cmd.Wait()
			want := "begun\n"
			if signal == syscall.SIGINT { // is the editor's
				want += "typed\n"
			}
			if (err == nil) != (signal == syscall.SIGINT) {
				t.Errorf("%v: %s", err, told)
			}
			if signal == syscall.SIGTERM && (cmd.ProcessState.ExitCode() != 143 || !keptIn.MatchString(told.String())) {
				t.Errorf("exit %d: %s", cmd.ProcessState.ExitCode(), told)
			}
			if o := u.ok(t, "notes", "show", "@human/list"); o.stdout != want {
				t.Errorf("the note: %q", o.stdout)
			}
			files, _ := filepath.Glob(u.path("tmp", "tureen-note-*", "list.md"))
			if signal == syscall.SIGINT {
				if len(files) != 0 {
					t.Errorf("left: %v", files)
				}
				return
			}
			if len(files) != 1 {
				t.Fatalf("the text is not there: %v", files)
			}
			if text, err := os.ReadFile(files[0]); err != nil || string(text) != "begun\ntyped\n" {
				t.Errorf("the text: %q, %v", text, err)
			}
			u.ok(t, "notes", "edit", "@human/list", "--from", files[0])
			if err := os.RemoveAll(filepath.Dir(files[0])); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSEC_HostileNotesAreShownHarmlessly puts into a home what steers a terminal, leads
// out of it, blocks or is too big, and looks at it in every way.
func TestSEC_HostileNotesAreShownHarmlessly(t *testing.T) {
	t.Parallel()
	u := noted(t)
	const evil = "title\x1b[2J\x1b]0;owned\a\u009b31m \u202eneedle\r\n"
	if o := from(t, u, "before\n"+evil, "@human/evil"); o.exit != 0 {
		t.Fatalf("%+v", o)
	}
	if o := from(t, u, evil+"after\n", "@human/evil"); o.exit != 0 {
		t.Fatalf("%+v", o)
	}
	home := u.path("notes", "human")
	write(t, u.path("secret"), "needle, a secret")
	write(t, filepath.Join(home, "huge.md"), strings.Repeat("needle\n", 1<<19))
	write(t, filepath.Join(home, "binary.md"), "\x00\xffneedle")
	write(t, filepath.Join(home, "name\x1b[2J.md"), "needle")
	if err := errors.Join(os.Symlink(u.path("secret"), filepath.Join(home, "link.md")), syscall.Mkfifo(filepath.Join(home, "pipe.md"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"show"}, {"show", "@human"}, {"show", "@human/evil"}, {"show", "@human", "--json"}, {"search", "needle"}, {"search", "needle", "--json"},
		{"log"}, {"log", "@human/evil"}, {"log", "--json"}, {"diff", "@human/evil"}, {"diff", "@human/evil", "--json"}} {
		exit, screen := onTerminal(t, u, "NO_COLOR=1", append([]string{"notes"}, args...)...)
		if exit != 0 || strings.ContainsAny(screen, "\x1b\a\u009b\u202e") || strings.Contains(screen, "secret") {
			t.Errorf("%v: exit %d: %.2000q", args, exit, screen)
		}
	}
	if o := u.ok(t, "notes", "show", "@human/evil"); o.stdout != evil+"after\n" {
		t.Errorf("a file gets it as it is: %q", o.stdout)
	}
	if o := u.ok(t, "notes", "show", "@human"); strings.Count(o.stderr, "passed over") < 3 {
		t.Errorf("nothing is said of what is not shown: %s", o.stderr)
	}
	exit, screen := onTerminal(t, u, "", "notes", "diff", "@human/evil")
	if coloured := regexp.MustCompile(`\x1b\[(0|1|31|32|36)m`).ReplaceAllString(screen, ""); exit != 0 || coloured == screen || strings.ContainsAny(coloured, "\x1b\a\u009b\u202e") {
		t.Errorf("in colours: exit %d: %q", exit, screen)
	}
	for name, code := range map[string]string{"huge": "has more than", "binary": "is not UTF-8 text", "link": "is a symbolic link", "pipe": "is no regular file"} {
		for _, verb := range []string{"show", "edit", "diff"} {
			o := u.run(t, "notes", verb, "@human/"+name)
			if verb == "edit" {
				o = from(t, u, "pwned", "@human/"+name)
			}
			if o.exit != 9 || o.stdout != "" || !strings.Contains(o.stderr, "hint: ") || verb != "diff" && !strings.Contains(o.stderr, code) {
				t.Errorf("%s %s: %+v", verb, name, o)
			}
		}
	}
	if b, err := os.ReadFile(u.path("secret")); err != nil || string(b) != "needle, a secret" {
		t.Errorf("the file outside holds %q, %v", b, err)
	}
}

// TestN8_AReadOnlyHomeCanBeRead: looking works, and what cannot be written is kept.
func TestN8_AReadOnlyHomeCanBeRead(t *testing.T) {
	t.Parallel()
	u := noted(t)
	for _, text := range []string{"one\n", "two\n"} {
		if o := from(t, u, text, "@human/list"); o.exit != 0 {
			t.Fatalf("%+v", o)
		}
	}
	err := filepath.Walk(u.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.Mode()&os.ModeSymlink != 0 {
			return err
		}
		mode := os.FileMode(0o777)
		if strings.HasPrefix(path, u.path("notes")) {
			mode = 0o555
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	asUser := func(stdin string, args ...string) outcome {
		cmd := exec.Command("sh", append([]string{"-c", asNobody, "sh", binary, "notes"}, args...)...)
		cmd.Dir, cmd.Env = u.path("work"), u.env
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
		_ = cmd.Run()
		return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	}
	for args, want := range map[string]string{"show @human/list": "two\n", "search two": "@human/list.md:1: two\n", "log @human": "edit", "diff @human/list": "+two\n"} {
		if o := asUser("", strings.Fields(args)...); o.exit != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("%s: %+v", args, o)
		}
	}
	o := asUser("three\n", "edit", "@human/list", "--from", "-")
	file := keptIn.FindStringSubmatch(o.stderr)
	if o.exit != 9 || !strings.Contains(o.stderr, "permission denied") || file == nil {
		t.Fatalf("%+v", o)
	}
	if kept, err := os.ReadFile(file[1]); err != nil || string(kept) != "three\n" {
		t.Errorf("kept: %q, %v", kept, err)
	}
	_ = os.RemoveAll(filepath.Dir(file[1]))
	if o := asUser("", "restore", "@human/list", "2c8b08da"); o.exit != 9 {
		t.Errorf("restore: %+v", o)
	}
}
