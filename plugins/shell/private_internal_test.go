package shell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// exchanged puts a symlink to a directory with a letter in the place of another.
func exchanged(t *testing.T, dir string) (letter string) {
	t.Helper()
	documents := t.TempDir()
	letter = filepath.Join(documents, "letter")
	if err := errors.Join(os.WriteFile(letter, []byte("dear"), 0o600), os.Rename(dir, dir+".aside"), os.Symlink(documents, dir)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir + ".aside"); os.Remove(dir) })
	return letter
}

func untouched(t *testing.T, letter string) {
	t.Helper()
	if data, err := os.ReadFile(letter); err != nil || string(data) != "dear" {
		t.Errorf("the letter: %q, %v", data, err)
	}
}

func TestT17_AReplacedPrivateDirectoryIsNotFollowed(t *testing.T) {
	t.Parallel()
	var p private
	place, ok := p.place()
	if !ok {
		t.Fatal("there is none")
	}
	if err := os.WriteFile(filepath.Join(place.Path, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	letter := exchanged(t, place.Path)
	p.remove()
	untouched(t, letter)
	if left, err := os.ReadDir(place.Path + ".aside"); err != nil || len(left) != 0 {
		t.Errorf("ours is not empty: %v, %v", left, err)
	}
	var untaken private
	if place, ok = untaken.place(); !ok {
		t.Fatal("there is none")
	}
	untaken.remove()
	if _, err := os.Lstat(place.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it stays: %v", err)
	}
}

func TestT17_TheGuardianFollowsNoSymlink(t *testing.T) {
	t.Parallel()
	for _, replaced := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "private")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		letter := ""
		if replaced {
			letter = exchanged(t, dir)
		}
		cmd := exec.Command("/bin/sh", "-c", guardScript, "guardian", "TUREEN_SHELL=nobody-has-this-mark")
		cmd.Stdin = strings.NewReader("d " + dir + "\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if replaced {
			untouched(t, letter)
		} else if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it stays: %v", err)
		}
	}
}
