package confine_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/internal/confine"
)

// cell is a workspace, a place outside with one file, and who watches it.
type cell struct {
	t             testing.TB
	ws, out, home string
	env           []string
}

const kept = "precious\n"

// newCell makes a workspace that is not for temporary files either.
func newCell(t testing.TB) *cell {
	t.Helper()
	abi, ok := confine.Enforced()
	if !ok {
		t.Fatalf("this kernel has no Landlock (ABI %d): the tests of confinement need Linux 5.13 with landlock in its list of LSMs", abi)
	}
	base, err := os.MkdirTemp("/var/tmp", "cell")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Unmount(filepath.Join(base, "ws", "m"), syscall.MNT_DETACH) // of an attack that was free to mount
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	c := &cell{t: t, ws: filepath.Join(base, "ws"), out: filepath.Join(base, "out"), home: filepath.Join(base, "home")}
	for _, dir := range []string{c.ws, c.out, c.home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{c.out + "/file": kept, c.ws + "/mine": "inside\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": c.out + "/file", "dirlink": c.out, "dangling": c.out + "/new"} {
		if err := os.Symlink(to, filepath.Join(c.ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	c.env = append(os.Environ(), "OUT="+c.out, "WS="+c.ws, "HOME="+c.home, "LC_ALL=C",
		"PATH=/usr/bin:/bin:"+os.Getenv("PATH")) // no shims: they take their time
	return c
}

// run runs a command line in the workspace under a confinement.
func (c *cell) run(bounds session.Confinement, command string) (output string, exit int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	argv, enforced := confine.Command(confine.For(bounds, c.ws, ""), []string{"/bin/bash", "-c", command})
	if enforced == bounds.Free() {
		c.t.Fatalf("bounds %+v: enforced %v", bounds, enforced)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.ws, c.env, time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		c.t.Errorf("%s: did not end", command)
	}
	if err != nil && cmd.ProcessState == nil {
		c.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// changed says what is different outside, "" for nothing. An attack whose success
// shows elsewhere makes the file escaped.
func (c *cell) changed() string {
	if _, err := os.Lstat(c.ws + "/escaped"); err == nil {
		return "it says that it escaped"
	}
	data, err := os.ReadFile(c.out + "/file")
	if err != nil || string(data) != kept {
		return fmt.Sprintf("the file holds %q, %v", data, err)
	}
	for _, dir := range []string{c.out, c.home} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err.Error()
		}
		for _, e := range entries {
			if dir != c.out || e.Name() != "file" {
				return filepath.Join(dir, e.Name()) + " was made"
			}
		}
	}
	return ""
}

// attacks try to change $OUT/file, or to make something in $OUT or $HOME.
var attacks = map[string]string{
	"redirection":                    `echo x > $OUT/file`,
	"append":                         `echo x >> $OUT/file`,
	"new file":                       `echo x > $OUT/new`,
	"dots":                           `echo x > ../out/file`,
	"cd and dots":                    `mkdir -p a/b; cd a/b; echo x > ../../../out/file`,
	"symlink to the file":            `echo x > link`,
	"symlink to the directory":       `echo x > dirlink/file`,
	"symlink to nothing yet":         `echo x > dangling`,
	"a symlink of its own":           `ln -s $OUT/file l2; echo x > l2`,
	"a chain of symlinks":            `ln -s $OUT l3; ln -s l3/file l4; echo x > l4`,
	"hard link to the file":          `ln $OUT/file hard && echo x > hard`,
	"hard link in python":            `python3 -c 'import os; os.link(os.environ["OUT"]+"/file","h2"); open("h2","w").write("x")'`,
	"hard link outwards":             `ln mine $OUT/hard`,
	"move out":                       `mv mine $OUT/new`,
	"rename over":                    `python3 -c 'import os; os.rename("mine", os.environ["OUT"]+"/file")'`,
	"exchange":                       `python3 -c 'import ctypes,os; ctypes.CDLL(None).renameat2(-100, b"mine", -100, (os.environ["OUT"]+"/file").encode(), 2)' `,
	"move in":                        `mv $OUT/file stolen`,
	"move the directory":             `mv $OUT elsewhere`,
	"remove":                         `rm -f $OUT/file`,
	"remove with unlink":             `perl -e 'unlink "$ENV{OUT}/file"'`,
	"rmdir":                          `rm -rf $OUT; rmdir $OUT`,
	"mkdir":                          `mkdir $OUT/new`,
	"mkfifo":                         `mkfifo $OUT/new`,
	"mknod":                          `mknod $OUT/new c 1 3`,
	"symlink outside":                `ln -s /etc/passwd $OUT/new`,
	"copy":                           `cp mine $OUT/file; cp mine $OUT/new`,
	"install":                        `install -m 644 mine $OUT/file`,
	"tee":                            `echo x | tee $OUT/file`,
	"dd":                             `dd if=mine of=$OUT/file conv=notrunc`,
	"truncate":                       `truncate -s 0 $OUT/file`,
	"truncate by path":               `perl -e 'truncate "$ENV{OUT}/file", 0'`,
	"sed in place":                   `sed -i s/precious/x/ $OUT/file`,
	"sh -c":                          `sh -c "sh -c 'echo x > $OUT/file'"`,
	"heredoc":                        "cat <<EOF > $OUT/file\nx\nEOF\n",
	"xargs":                          `echo $OUT/file | xargs -I{} sh -c 'echo x > {}'`,
	"find -exec":                     `find $OUT -name file -exec cp mine {} \;`,
	"python":                         `python3 -c 'import os; open(os.environ["OUT"]+"/file","w").write("x")'`,
	"python, read and write":         `python3 -c 'import os; os.write(os.open(os.environ["OUT"]+"/file",os.O_RDWR),b"x")'`,
	"python, directory descriptor":   `python3 -c 'import os; d=os.open(os.environ["OUT"],os.O_RDONLY); os.write(os.open("file",os.O_WRONLY,dir_fd=d),b"x")'`,
	"unnamed file":                   `python3 -c 'import ctypes,os; f=os.open(os.environ["OUT"],os.O_TMPFILE|os.O_RDWR); ctypes.CDLL(None).linkat(-100, b"/proc/self/fd/%d"%f, -100, (os.environ["OUT"]+"/new").encode(), 0x400)' `,
	"perl":                           `perl -e 'open F, ">$ENV{OUT}/file"; print F "x"'`,
	"background child":               `(sleep 0.1; echo x > $OUT/file) & wait`,
	"setsid":                         `setsid -w sh -c 'echo x > $OUT/file'`,
	"nohup and disown":               `nohup sh -c 'echo x > $OUT/file' >/dev/null 2>&1 & disown; sleep 0.3`,
	"chmod, then write":              `chmod 777 $OUT $OUT/file; echo x > $OUT/file`,
	"/proc/self/fd of a reader":      `exec 3< $OUT/file; echo x > /proc/self/fd/3`,
	"/dev/fd of a directory":         `exec 3< $OUT; echo x > /dev/fd/3/file`,
	"/proc/self/root":                `echo x > /proc/self/root$OUT/file`,
	"/proc/self/cwd":                 `cd $OUT; echo x > /proc/self/cwd/file`,
	"/proc of the parent":            `echo x > /proc/$PPID/root$OUT/file; echo x > /proc/$PPID/cwd/../../out/file; echo x > /proc/1/root$OUT/file`,
	"chroot":                         `chroot / sh -c "echo x > $OUT/file"`,
	"mount --bind":                   `mkdir -p m; mount --bind $OUT m && echo x > m/file`,
	"mount in a namespace":           `mkdir -p m; unshare -rm sh -c "mount --bind $OUT m; echo x > m/file"`,
	"overlay":                        `mkdir -p u w m; mount -t overlay o -olowerdir=$WS,upperdir=$OUT,workdir=w m && echo x > m/new`,
	"namespaces alone":               `unshare -r sh -c 'echo x > $OUT/file'`,
	"disk by a device node":          `mknod disk b 7 250 && touch escaped; mknod disk2 c 1 1 && touch escaped`,
	"sqlite":                         `sqlite3 $OUT/new.db 'create table t(a)'`,
	"sqlite attach":                  `sqlite3 in.db "attach '$OUT/new.db' as o; create table o.t(a)"`,
	"tar with absolute names":        `python3 -c 'import tarfile,os; t=tarfile.open("a.tar","w"); t.add("mine", os.environ["OUT"]+"/file"); t.add("mine", "../out/new"); t.close()'; tar -xPf a.tar`,
	"tar through a symlink":          `mkdir -p s; ln -sfn $OUT s/d; tar -cf b.tar s/d; rm s/d; mkdir s/d; cp mine s/d/file; tar -rf b.tar s/d/file; rm -r s; tar -xPf b.tar --keep-directory-symlink`,
	"tar -C":                         `tar -cf c.tar mine; tar -C $OUT -xf c.tar`,
	"git config --global":            `git config --global user.name x`,
	"git init":                       `git init -q $OUT/repository`,
	"git worktree":                   `git init -q r; git -C r -c user.name=a -c user.email=b@c commit -q --allow-empty -m x; git -C r worktree add $OUT/tree`,
	"git hook":                       `git init -q r2; printf '#!/bin/sh\necho x > $OUT/file\n' > r2/.git/hooks/post-commit; chmod +x r2/.git/hooks/post-commit; git -C r2 -c user.name=a -c user.email=b@c commit -q --allow-empty -m x`,
	"LD_PRELOAD":                     `printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n__attribute__((constructor)) static void f(void){char p[4096];snprintf(p,4096,"%%s/file",getenv("OUT"));FILE*h=fopen(p,"w");if(h){fputs("x",h);fclose(h);}}\n' > p.c; gcc -shared -fPIC -o p.so p.c; LD_PRELOAD=$WS/p.so cat mine`,
	"a program of its own":           `printf '#include <fcntl.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main(){chdir(getenv("OUT"));int f=open("file",O_WRONLY|O_TRUNC);return write(f,"x",1)!=1;}\n' > q.c; gcc -o q q.c && ./q`,
	"memory of another process":      `python3 -c 'import os; open("/proc/%s/mem" % os.environ["WATCHER"],"r+b")' && touch escaped; perl -e 'open(F,"+<","/proc/$ENV{WATCHER}/mem") and system("touch escaped")'`,
	"trace somebody outside":         `perl -e 'exit(syscall(101,16,$ENV{WATCHER}+0,0,0)!=0)' && touch escaped`,
	"signal somebody outside":        `kill -USR1 $WATCHER; sleep 0.3`,
	"signal by pidfd":                `python3 -c 'import os,signal; signal.pidfd_send_signal(os.pidfd_open(int(os.environ["WATCHER"])), signal.SIGUSR1)'; sleep 0.3`,
	"signal by owner of a file":      `perl -e 'use Fcntl; pipe(R,W); fcntl(R,10,10); fcntl(R,8,$ENV{WATCHER}+0); fcntl(R,F_SETFL,0x2000|O_NONBLOCK); syswrite(W,"x"); sleep 1' `,
	"helper on a socket with a path": `python3 -c 'import socket,os; s=socket.socket(socket.AF_UNIX); s.connect(os.environ["HELPER"]); s.send(b"x"); s.recv(1)'`,
	"helper on an abstract socket":   `python3 -c 'import socket,os; s=socket.socket(socket.AF_UNIX); s.connect("\0"+os.environ["ABSTRACT"]); s.send(b"x"); s.recv(1)'`,
	"a setting of the kernel":        `read -r x < /proc/sys/kernel/domainname; echo "$x" > /proc/sys/kernel/domainname && touch escaped`,
	"dotfile":                        `echo x >> ~/.bashrc; echo x > ~/.profile`,
	"bash's own tricks":              `exec 4<>$OUT/file; echo x >&4; printf x >| $OUT/file; coproc { echo x > $OUT/file; }; wait; history -w $OUT/new; HISTFILE=$OUT/new bash -ic exit`,
	"acl of another program":         `cp $(command -v cp) ./cp2; ./cp2 mine $OUT/file`,
	"badness of another process":     `echo 0 > /proc/$WATCHER/oom_score_adj && touch escaped`,
	"rsync, wget or curl":            `curl -s -o $OUT/new file://$WS/mine; rsync mine $OUT/file; wget -qO $OUT/new file://$WS/mine`,
}

// TestT17_TheAttacksWorkUnconfined: an attack that a free command cannot make either
// proves nothing. Some need a program or a right that is not everywhere.
func TestT17_TheAttacksWorkUnconfined(t *testing.T) {
	t.Parallel()
	var fail []string
	for name, command := range attacks {
		c := newCell(t)
		c.startHelpers(command)
		output, _ := c.run(session.Confinement{}, command)
		if c.changed() == "" {
			fail = append(fail, fmt.Sprintf("%s: %s", name, strings.TrimSpace(output)))
		}
	}
	if works := len(attacks) - len(fail); works < 50 {
		t.Errorf("%d of %d attacks work", works, len(attacks))
	}
	t.Logf("%d of %d attacks do nothing without confinement:\n%s", len(fail), len(attacks), strings.Join(fail, "\n"))
}

// TestT17_NothingOutsideIsChanged tries each attack in a cell of its own, under both
// narrow policies.
func TestT17_NothingOutsideIsChanged(t *testing.T) {
	t.Parallel()
	if len(attacks) < 30 {
		t.Fatalf("%d attacks", len(attacks))
	}
	for name, command := range attacks {
		for _, policy := range []session.FilePolicy{session.FilesWorkspaceWrite, session.FilesReadOnly} {
			t.Run(name+"/"+string(policy), func(t *testing.T) {
				c := newCell(t)
				c.startHelpers(command)
				output, _ := c.run(session.Confinement{Files: policy}, command)
				if what := c.changed(); what != "" {
					t.Errorf("got through: %s\n%s", what, output)
				}
			})
		}
	}
}

// startHelpers starts processes outside that write when they are asked: on a socket
// with a path, on an abstract one, or by SIGUSR1. It does so for attacks on them.
func (c *cell) startHelpers(attack string) {
	c.t.Helper()
	if !strings.Contains(attack, "WATCHER") && !strings.Contains(attack, "HELPER") && !strings.Contains(attack, "ABSTRACT") {
		return
	}
	path, abstract := filepath.Join(c.ws, "helper"), fmt.Sprintf("tureen-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(c.ws)))
	for _, address := range []string{path, "@" + abstract} {
		l, err := net.Listen("unix", address)
		if err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.ReadFull(conn, make([]byte, 1))
				_ = os.WriteFile(c.out+"/file", []byte("by a helper\n"), 0o600)
				_, _ = conn.Write([]byte("x"))
				conn.Close()
			}
		}()
	}
	watcher := exec.Command("/bin/bash", "-c", `trap 'echo x > $OUT/file' USR1; echo ready; while :; do sleep 1000 & wait $!; done`)
	watcher.Env, watcher.SysProcAttr = c.env, &syscall.SysProcAttr{Setpgid: true}
	out, err := watcher.StdoutPipe()
	if err == nil {
		err = watcher.Start()
	}
	if err == nil {
		_, err = io.ReadFull(out, make([]byte, len("ready\n")))
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = syscall.Kill(-watcher.Process.Pid, syscall.SIGKILL)
		_ = watcher.Wait()
	})
	c.env = append([]string{"HELPER=" + path, "ABSTRACT=" + abstract, fmt.Sprintf("WATCHER=%d", watcher.Process.Pid)}, c.env...)
}
