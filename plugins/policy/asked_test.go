package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

var yes = &session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{"Allow once"}}

// relink makes a symlink lead elsewhere.
func relink(t *testing.T, link, to string) {
	t.Helper()
	if err := os.RemoveAll(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, link); err != nil {
		t.Fatal(err)
	}
}

// A yes is about what the question showed: where a path leads elsewhere by then,
// the call does not run, and nothing is remembered.
func TestT16_AnswerIsForWhatWasShown(t *testing.T) {
	t.Parallel()
	d := open(t, `{}`)
	link, shown, secret := filepath.Join(d.dir, "link"), filepath.Join(d.beside, "a"), filepath.Join(d.beside, "secret")
	for _, dir := range []string{shown, secret} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	call := args{"file_path": "link/authorized_keys", "content": "x"}
	for _, choice := range []string{"Allow once", "Allow for this session"} {
		relink(t, link, shown)
		holds(t, "the question", d.decide("write", call).Ask.Detail, shown)
		relink(t, link, secret)
		out := d.decideIn("s", "write", call, &session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{choice}})
		holds(t, "the refusal", out.Deny, "has changed since", "Nothing was run", "Make the call again")
		if out := d.decide("write", call); verdict(out) != "ask" {
			t.Errorf("after the refusal: %+v", out)
		}
		if out := d.decideIn("s", "write", call, yes); verdict(out) != "allow" || out.Confinement.Writable[0] != secret {
			t.Errorf("the same call again: %+v", out)
		}
	}
}

// The same for a directory that comes to be, which would open more than was shown,
// and for a command that is about another file by then.
func TestT16_AnswerDoesNotOpenMoreThanWasShown(t *testing.T) {
	t.Parallel()
	d := open(t, `{}`)
	if err := os.Mkdir(d.beside+"/deep", 0o700); err != nil {
		t.Fatal(err)
	}
	call := args{"file_path": d.beside + "/deep/x", "content": "x"}
	d.decide("write", call)
	if err := os.Remove(d.beside + "/deep"); err != nil {
		t.Fatal(err)
	}
	if out := d.decideIn("s", "write", call, yes); verdict(out) != "deny" {
		t.Errorf("another bound than was shown: %+v", out)
	}
	line := shellCall("curl x; git checkout later")
	d.decide("shell", line)
	if err := os.WriteFile(filepath.Join(d.dir, "later"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := d.decideIn("s", "shell", line, yes); verdict(out) != "deny" {
		t.Errorf("another reason than was shown: %+v", out)
	}
}

// An answer without its question, to another call, or for a second time lets
// nothing through; fewer reasons than were shown do no harm.
func TestT16_AnswerNeedsItsQuestion(t *testing.T) {
	t.Parallel()
	d := open(t, `{}`)
	call := shellCall("curl x")
	if out := d.decideIn("s", "shell", call, yes); verdict(out) != "deny" {
		t.Errorf("nothing was asked: %+v", out)
	}
	d.decide("shell", call)
	if out := d.decideIn("other", "shell", call, yes); verdict(out) != "deny" {
		t.Errorf("asked in another session: %+v", out)
	}
	if out := d.decideIn("s", "shell", shellCall("curl y"), yes); verdict(out) != "deny" {
		t.Errorf("asked about another line: %+v", out)
	}
	d.decide("shell", call)
	for _, want := range []string{"allow", "deny"} {
		if out := d.decideIn("s", "shell", call, yes); verdict(out) != want {
			t.Errorf("not %s: %+v", want, out)
		}
	}
	path := filepath.Join(d.dir, "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	line := shellCall("curl x; git checkout file")
	d.decide("shell", line)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if out := d.decideIn("s", "shell", line, yes); verdict(out) != "allow" {
		t.Errorf("less than was shown: %+v", out)
	}
}
