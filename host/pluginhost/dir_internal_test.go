package pluginhost

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestASweepTakesNoDirectoryInUse has hosts start side by side while others sweep.
func TestASweepTakesNoDirectoryInUse(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	var hosts, sweeps sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		sweeps.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					sweep(base)
				}
			}
		})
	}
	for range 4 {
		hosts.Go(func() {
			for i := range 40 {
				root, err := makeRoot(base)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := root.generation(1, i); err != nil {
					t.Errorf("a directory in use is gone: %v", err)
				}
				if err := root.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	hosts.Wait()
	close(done)
	sweeps.Wait()
}

// TestASweepTakesWhatAKilledHostLeft covers a host that died before it locked its
// directory, and one that died later.
func TestASweepTakesWhatAKilledHostLeft(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if _, err := os.MkdirTemp(base, rootPrefix); err != nil { // no lock yet
		t.Fatal(err)
	}
	root, err := makeRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.generation(1, 1); err != nil {
		t.Fatal(err)
	}
	if err := root.lock.Close(); err != nil { // its host is dead
		t.Fatal(err)
	}
	sweep(base)
	left, err := os.ReadDir(base)
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// treasure is a directory that looks like a host's to everybody but its owner.
func treasure(t *testing.T) (dir string, untouched func()) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "documents")
	for _, sub := range []string{dir, filepath.Join(dir, "1.1"), filepath.Join(dir, "1.2")} {
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, "letter"), []byte("dear"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func() {
		t.Helper()
		for _, file := range []string{"letter", "1.1/letter", "1.2/letter"} {
			if data, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(data) != "dear" {
				t.Errorf("%s: %q, %v", file, data, err)
			}
		}
	}
}

// swap puts a symlink to a directory in the place of another.
func swap(t *testing.T, dir, to string) (aside string) {
	t.Helper()
	aside = dir + ".aside"
	if err := errors.Join(os.Rename(dir, aside), os.Symlink(to, dir)); err != nil {
		t.Fatal(err)
	}
	return aside
}

func TestAReplacedDirectoryIsNeitherUsedNorFollowed(t *testing.T) {
	t.Parallel()
	root, err := makeRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := root.generation(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	documents, untouched := treasure(t)
	aside := swap(t, root.path, documents)
	if _, err := root.generation(1, 3); err == nil || !strings.Contains(err.Error(), "the plugins' private directory was moved or replaced while the run went on") {
		t.Errorf("a start in it: %v", err)
	}
	if err := root.drop(dir); err != nil {
		t.Error(err)
	}
	untouched()
	if err := root.remove(); err == nil || !strings.Contains(err.Error(), root.path) {
		t.Errorf("its removal: %v", err)
	}
	untouched()
	if left, err := os.ReadDir(aside); err != nil || len(left) != 0 {
		t.Errorf("what is ours stays: %v, %v", left, err)
	}
	if to, err := os.Readlink(root.path); err != nil || to != documents {
		t.Errorf("what is not ours is gone: %q, %v", to, err)
	}
}

// TestASweepFollowsNoSymlink has a killed host's directory replaced, its contents
// replaced, and one that is not private.
func TestASweepFollowsNoSymlink(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	documents, untouched := treasure(t)
	if err := os.Symlink(documents, filepath.Join(base, rootPrefix+"1")); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(base, rootPrefix+"2")
	open := filepath.Join(base, rootPrefix+"3")
	if err := errors.Join(os.Mkdir(dead, 0o700), os.Symlink(documents, filepath.Join(dead, "1.1")), os.Mkdir(open, 0o755)); err != nil {
		t.Fatal(err)
	}
	sweep(base)
	untouched()
	if _, err := os.Lstat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the dead host's: %v", err)
	}
	if _, err := os.Lstat(open); err != nil {
		t.Errorf("what is no host's: %v", err)
	}
	// Between the look at the names and the opening of one everything may change.
	parent, err := os.OpenRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	inside := filepath.Join(base, "inside")
	if err := errors.Join(os.Mkdir(inside, 0o700), os.Symlink("inside", filepath.Join(base, rootPrefix+"4"))); err != nil {
		t.Fatal(err)
	}
	if _, err := hold(parent, rootPrefix+"4"); !errors.Is(err, errNotOne) {
		t.Errorf("a symlink is held: %v", err)
	}
}

// TestTheBestPlaceIsTaken has homes of several kinds, and looks at what stays there.
func TestTheBestPlaceIsTaken(t *testing.T) {
	t.Parallel()
	short := func() string {
		dir, err := os.MkdirTemp("/tmp", "h")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	home, run, tmp := short(), short(), short()
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		env  []string
	}{
		{run, []string{"XDG_RUNTIME_DIR=" + run, "HOME=" + home, "TMPDIR=" + tmp}},
		{home + "/.cache/tureen", []string{"HOME=" + home, "XDG_STATE_HOME=" + file, "TMPDIR=" + tmp}},
		{home + "/s/tureen/run", []string{"XDG_STATE_HOME=" + home + "/s", "TMPDIR=" + tmp}},
		{tmp, []string{"HOME=" + home + "/" + strings.Repeat("long", 9), "XDG_STATE_HOME=relative", "TMPDIR=" + tmp}},
	} {
		bases := slices.DeleteFunc(socketBases(c.env), func(b base) bool { return strings.HasPrefix(b.path, "/run/user/") })
		root, err := newRoot(bases)
		if err != nil {
			t.Fatal(err)
		}
		if got := filepath.Dir(root.path); got != c.want {
			t.Errorf("%v: %s, want %s", c.env, got, c.want)
		}
		if err := root.remove(); err != nil {
			t.Error(err)
		}
		for _, dir := range []string{home, run, tmp} {
			if left, _ := filepath.Glob(dir + "/*"); len(left) > 1 || len(left) == 1 && left[0] != file {
				t.Errorf("%v: left %v", c.env, left)
			}
			if left, _ := filepath.Glob(dir + "/.*"); len(left) > 0 {
				t.Errorf("%v: left %v", c.env, left)
			}
		}
	}
}

func TestTheHostsSocketHasToBeItsOwn(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/tmp", "own")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	root, err := makeRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if _, err := root.generation(1, n); err != nil {
			t.Fatal(err)
		}
	}
	l, err := root.listen(filepath.Join(root.path, "1.0", "host.sock"))
	if err != nil {
		t.Fatalf("its own: %v", err)
	}
	_ = l.Close()
	other := filepath.Join(base, "other")
	if err := errors.Join(os.Mkdir(other, 0o700), os.Mkdir(filepath.Join(other, "1.1"), 0o700)); err != nil {
		t.Fatal(err)
	}
	swap(t, root.path, other)
	if _, err := root.listen(filepath.Join(root.path, "1.1", "host.sock")); err == nil || !strings.Contains(err.Error(), "moved or replaced") {
		t.Errorf("one in another directory: %v", err)
	}
	if err := root.remove(); err == nil {
		t.Error("nobody hears of it")
	}
}
