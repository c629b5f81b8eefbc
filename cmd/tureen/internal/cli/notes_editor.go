package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// editorGrace is how long an editor has to end when the program is told to.
const editorGrace = 5 * time.Second

// editor is what the person edits with. Without a setting it is vi, which needs a
// terminal.
func (a *app) editor() (string, error) {
	if editor := cmp.Or(strings.TrimSpace(a.env("VISUAL")), strings.TrimSpace(a.env("EDITOR"))); editor != "" {
		return editor, nil
	}
	const hint = "set VISUAL or EDITOR, or give the text with --from FILE"
	if !render.IsTerminal(a.in) || !render.IsTerminal(a.out) {
		return "", faultf(exitUsage, "EDITOR", hint, "no editor is set, and vi needs a terminal")
	}
	if _, err := exec.LookPath("vi"); err != nil {
		return "", faultf(exitUsage, "EDITOR", hint, "no editor is set, and there is no vi")
	}
	return "vi", nil
}

// runEditor edits a file. A setting of more than one word, or with anything else
// that a shell takes apart, is a shell's, as git has it. While the editor runs, the
// terminal's signals are its own.
func runEditor(ctx context.Context, editor, file string) error {
	cmd := exec.CommandContext(ctx, editor, file)
	if strings.ContainsAny(editor, "|&;<>()$`\\\"' \t\n*?[#~=%") {
		cmd = exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, file)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = editorGrace
	if err := cmd.Start(); err != nil {
		return cause(err)
	}
	signal.Ignore(os.Interrupt) // only now: the editor must not inherit that
	return cmd.Wait()
}

// inEditor has the person edit the text in a file of its own, which goes once what
// they saved is in the note.
func (e *noteEdit) inEditor(ctx context.Context, s *notes.Store) error {
	editor, err := e.editor()
	if err != nil {
		return err
	}
	file, err := keepText(path.Base(e.at.Path), e.old)
	if err != nil {
		return faultf(exitUnexpected, "EDITOR", "check the directory for temporary files, TMPDIR", "make a file for the editor: %v", err)
	}
	done := false
	defer func() {
		if done {
			os.RemoveAll(filepath.Dir(file))
		}
	}()
	ran := runEditor(ctx, editor, file)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt) // the editor had them before
	defer stop()
	text, err := readTextFile(file)
	if ran != nil {
		done = err == nil && text == e.old || errors.Is(err, os.ErrNotExist)
		return e.failed(ctx, editor, file, ran, done)
	}
	if err != nil {
		done = errors.Is(err, os.ErrNotExist)
		return faultf(exitUnexpected, "EDITOR", "nothing was changed; edit it again", "read what the editor left in %s: %v", file, cause(err))
	}
	said, err := e.put(ctx, s, text)
	if err != nil {
		return e.kept(err, file)
	}
	done = true
	return e.say(said)
}

// failed tells of an editor that did not end well: nothing is written then.
func (e *noteEdit) failed(ctx context.Context, editor, file string, err error, unchanged bool) error {
	f := faultf(exitUnexpected, "EDITOR", "", "the editor %q failed: %v; %s is unchanged", editor, err, e.at)
	if cancelled := context.Cause(ctx); ctx.Err() != nil {
		f = faultOf(cancelled)
	} else if !render.IsTerminal(e.in) || !render.IsTerminal(e.out) {
		f.Hint = "this is no terminal: set EDITOR to a program that needs none, or give the text with --from FILE"
	}
	if !unchanged {
		f.Message += "; your text is in " + file
		f.Hint = e.desk.command("edit", e.at.String()) + " --from " + shellWord(file) + " writes it"
	} else if f.Hint == "" && f.Code == "EDITOR" {
		f.Hint = "set VISUAL or EDITOR to another one, or give the text with --from FILE"
	}
	return f
}
