package confine_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/internal/confine"
)

var workspaceWrite = session.Confinement{Files: session.FilesWorkspaceWrite}

// gives runs a command that has to succeed and to print that.
func (c *cell) gives(bounds session.Confinement, command, want string) {
	c.t.Helper()
	if got, exit := c.run(bounds, command); exit != 0 || strings.TrimSpace(got) != want {
		c.t.Errorf("%s: exit %d\n%s\nwant %s", command, exit, got, want)
	}
}

func TestT17_WorkInsideGoesOnAsEver(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	for command, want := range map[string]string{
		`cat $OUT/file; ls $OUT`:                                                                                        "precious\nfile",
		`echo new > a.txt; echo more >> a.txt; cat a.txt`:                                                               "new\nmore",
		`mkdir -p d/e; mv mine d/e/yours; cat d/e/yours; mv d/e f; ls f`:                                                "inside\nyours",
		`echo 1 > g; ln g h; echo 2 > h; cat g; rm g h`:                                                                 "2",
		`ln -s a.txt s; readlink s; mkfifo p; (echo x > p &); cat p`:                                                    "a.txt\nx",
		`f=$(mktemp) && echo tmp > $f && cat $f && rm $f`:                                                               "tmp",
		`echo gone > /dev/null; head -c 2 /dev/zero | wc -c`:                                                            "2",
		`cat <(echo one) <<< two; seq 100000 | sort -n -S 100K | tail -1`:                                               "one\n100000",
		`git init -q r; cd r; git -c user.name=a -c user.email=b@c commit -q --allow-empty -m x && git log --format=%s`: "x",
		`sqlite3 x.db 'create table t(a); insert into t values(7); select a from t'`:                                    "7",
		`printf 'int main(){return 0;}' > m.c; gcc -o m m.c && ./m && echo built`:                                       "built",
		`python3 -c 'import multiprocessing as m; print(m.get_context("fork").Pool(2).map(abs, [-1, -2]))'`:             "[1, 2]",
		`sleep 30 & kill $! && wait $!; echo $?`:                                                                        "143",
	} {
		c.gives(workspaceWrite, command, want)
	}
	if what := c.changed(); what != "" {
		t.Error(what)
	}
}

func TestT17_WritableDirectoriesMayBeWritten(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	bounds := session.Confinement{Files: session.FilesWorkspaceWrite, Writable: []string{c.home}}
	c.gives(bounds, `echo x > ~/cache && cat ~/cache && mv mine ~/moved && cat ~/moved`, "x\ninside")
	if got, exit := c.run(bounds, `echo x > $OUT/file`); exit == 0 || !refused(got) {
		t.Errorf("exit %d: %s", exit, got)
	}
}

func TestT17_ReadOnlyKeepsTheWorkspaceToo(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	readOnly := session.Confinement{Files: session.FilesReadOnly}
	c.gives(readOnly, `cat mine $OUT/file; echo x > /dev/null; echo done`, "inside\nprecious\ndone")
	for _, command := range []string{`echo x > mine`, `touch new`, `echo x > /tmp/confine-$$`, `rm mine`, `mkdir d`, `echo x > /dev/shm/confine-$$`} {
		if got, exit := c.run(readOnly, command); exit == 0 || !refused(got) {
			t.Errorf("%s: exit %d: %s", command, exit, got)
		}
	}
	private := mkdir(t, c.home, "private")
	argv, enforced := confine.Command(confine.For(readOnly, c.ws, private), []string{"/bin/sh", "-c", "echo x > " + private + "/f && cat " + private + "/f"})
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil || string(out) != "x\n" || !enforced {
		t.Errorf("private directory: %s, %v", out, err)
	}
}

// A command keeps the id of the process that confined itself: who ends that group
// ends the command. A free command costs nothing.
func TestT17_TheProcessStaysTheSame(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	argv := []string{"/bin/sh", "-c", "echo $$"}
	if same, enforced := confine.Command(confine.For(session.Confinement{}, c.ws, ""), argv); enforced || !slices.Equal(same, argv) {
		t.Errorf("a free command becomes %q", same)
	}
	argv, _ = confine.Command(confine.For(workspaceWrite, c.ws, ""), argv)
	cmd := exec.Command(argv[0], argv[1:]...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil || out.String() != fmt.Sprintln(cmd.Process.Pid) {
		t.Errorf("process %d became %q, %v", cmd.Process.Pid, out.String(), err)
	}
}

// What cannot be put into force is not run at all.
func TestT17_ABrokenPolicyRunsNothing(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	for _, bounds := range []string{"{", `{"files": 5}`} {
		cmd := exec.Command("/proc/self/exe", "__confined", bounds, "/bin/sh", "-c", "touch "+c.ws+"/ran")
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 126 || !strings.HasPrefix(string(out), "the command was not started, because its file policy could not be put into force: ") {
			t.Errorf("%s: %s, %v", bounds, out, err)
		}
	}
	if _, err := os.Stat(c.ws + "/ran"); err == nil {
		t.Error("the command ran")
	}
}

func TestT17_OfflineReachesNobody(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	ways := map[string]string{
		"tcp":    fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/%d && echo sent`, tcp.Addr().(*net.TCPAddr).Port),
		"udp":    fmt.Sprintf(`echo x > /dev/udp/127.0.0.1/%d && echo sent`, udp.LocalAddr().(*net.UDPAddr).Port),
		"mptcp":  fmt.Sprintf(`python3 -c 'import socket; s=socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect(("127.0.0.1", %d)); print("sent")' || python3 -c 'import socket; socket.create_connection(("127.0.0.1", %[1]d)); print("sent")'`, tcp.Addr().(*net.TCPAddr).Port),
		"listen": `python3 -c 'import socket; socket.create_server(("127.0.0.1", 0)); print("sent")'`,
		"ipv6":   `python3 -c 'import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); print("sent")'`,
		"raw":    `python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); print("sent")'`,
	}
	for name, command := range ways {
		c.gives(workspaceWrite, command, "sent")
		for _, bounds := range []session.Confinement{{Offline: true}, {Offline: true, Files: session.FilesWorkspaceWrite}} {
			if got, exit := c.run(bounds, command); exit == 0 || strings.Contains(got, "sent") || !refused(got) {
				t.Errorf("%s: exit %d: %s", name, exit, got)
			}
		}
	}
	c.gives(session.Confinement{Offline: true}, `echo x > $OUT/new; cat $OUT/new; python3 -c 'import socket; socket.socketpair()'`, "x")
	buffer := make([]byte, 10) // from the one that was not offline
	udp.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, _, err := udp.ReadFrom(buffer); err != nil || string(buffer[:n]) != "x\n" {
		t.Errorf("got %q, %v", buffer[:n], err)
	}
	udp.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, _, err := udp.ReadFrom(buffer); err == nil {
		t.Errorf("a second datagram came: %q", buffer[:n])
	}
}
