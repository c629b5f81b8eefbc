package shellcmd_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/plugins/policy/shellcmd"
)

// stubs are the programs that write their name down instead of doing harm.
var stubs = strings.Fields(`curl wget rm sudo doas su git ssh scp nc rsync npm npx pip go apt-get docker dd mkfs.ext4 shred truncate chmod chown pkill killall shutdown crontab systemctl busybox parallel unknown-wrapper python3.11`)

// field is a workspace with the stubs and with what the attacks need.
func field(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const stub = "#!/bin/sh\necho \"${0##*/}\" >> \"$STUB_LOG\"\n"
	for _, name := range stubs {
		write("stubs/"+name, stub)
	}
	write("evil/ls", "#!/bin/sh\ncurl x\n")
	write("victim/file", "x")
	write("sub/file", "x")
	write("file.txt", "x\n")
	write(".git/hooks/pre-push", "#!/bin/sh\n")
	write("tools/tureen", stub)
	write("node_modules/.bin/tsc", stub)
	if err := os.Symlink(".git", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run lets bash run a line in a fresh field; it returns which stubs ran, and what
// bash said.
func run(t testing.TB, line string) (names, said string) {
	t.Helper()
	dir := field(t)
	log := filepath.Join(dir, "stub.log")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + dir + "/stubs:/usr/bin:/bin", "HOME=" + dir, "STUB_LOG=" + log, "LC_ALL=C"}
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, _ := cmd.CombinedOutput() // many of them fail, after the harm is done
	ran, _ := os.ReadFile(log)
	names = strings.Join(strings.Fields(string(ran)), " ")
	if _, err := os.Stat(filepath.Join(dir, "victim")); err != nil {
		names += " victim"
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git/hooks/pre-commit")); err == nil {
		names += " hook"
	}
	return names, string(out)
}

// options of a workspace whose only inside is itself.
func options(dir string) shellcmd.Options {
	resolve := func(path string) string {
		for rest := ""; path != "/"; path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest) {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				return filepath.Join(real, rest)
			}
		}
		return path
	}
	exists := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	return shellcmd.Options{Dir: dir, Home: "/home/nobody", Self: "/opt/agent-under-test", Resolve: resolve, Exists: exists, Inside: func(path string) bool {
		if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(parent, filepath.Base(path))
		}
		return path == dir || strings.HasPrefix(filepath.Clean(path), dir+"/")
	}}
}

func asks(line shellcmd.Line) bool {
	return line.Has(shellcmd.Network) || line.Has(shellcmd.Destructive) || line.Has(shellcmd.Privilege) || line.Has(shellcmd.Unclear)
}

// Every line of the table gives reason to ask.
func TestT16_NoAttackGoesThrough(t *testing.T) {
	t.Parallel()
	dir := field(t)
	for _, a := range append(attacks[:len(attacks):len(attacks)], ways...) {
		if line := shellcmd.Analyze(a.line, options(dir)); !asks(line) {
			t.Errorf("nothing to ask about %q: %q", a.line, texts(line))
		}
	}
	for _, text := range append(append(append([]string{}, unproven...), unprovenWays...), grammar...) {
		if line := shellcmd.Analyze(text, options(dir)); !asks(line) {
			t.Errorf("nothing to ask about %q: %q", text, texts(line))
		}
	}
	if n := len(attacks) + len(ways) + len(unproven) + len(grammar); n < 120 {
		t.Errorf("the table has %d rows", n)
	}
}

// Every row of the tables does what it is there for when bash runs it. A few rows
// may need a program or a right that this machine has not.
func TestT16_EveryAttackIsReal(t *testing.T) {
	t.Parallel()
	lacking := regexp.MustCompile(`not found|not permitted|[Ff]ailed to|unshare failed`)
	missing := 0
	prove := func(line, proof string) {
		ran, said := run(t, line)
		switch {
		case proof == "" && ran != "", proof != "" && strings.Contains(" "+ran+" ", " "+proof+" "):
		case lacking.MatchString(said):
			missing++
			t.Logf("not shown here: %q: %s", line, said)
		default:
			t.Errorf("%q ran %q, not %q; bash says: %s", line, ran, proof, said)
		}
	}
	for _, a := range append(attacks[:len(attacks):len(attacks)], ways...) {
		prove(a.line, a.proof)
	}
	for _, line := range grammar {
		prove(line, "")
	}
	if all := len(attacks) + len(ways) + len(grammar); missing > all/10 {
		t.Errorf("%d of %d rows could not be shown on this machine", missing, all)
	}
}

// What is not looked through: files that are run. It stands here so that nobody
// takes the analysis for more than it is; the file policy binds them all the same.
func TestT16_FilesThatAreRunAreNotLookedThrough(t *testing.T) {
	t.Parallel()
	dir := field(t)
	for _, text := range []string{"sh evil/ls", ". ./evil/ls", "./evil/ls", "bash <evil/ls", "make", "python3 x.py"} {
		if line := shellcmd.Analyze(text, options(dir)); asks(line) {
			t.Errorf("%q is asked about: %q", text, texts(line))
		}
	}
	if ran, said := run(t, "sh evil/ls"); ran != "curl" {
		t.Errorf("ran %q; bash says: %s", ran, said)
	}
}

func texts(line shellcmd.Line) []string {
	var out []string
	for _, c := range line.Commands {
		out = append(out, c.Text())
	}
	return out
}
