package confine_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tureen-host/tureen/host/session"
)

var bound = []session.Confinement{
	{Files: session.FilesWorkspaceWrite}, {Files: session.FilesReadOnly}, {Offline: true}, {Files: session.FilesWorkspaceWrite, Offline: true},
}

// The keys of the host are in its environment, which nobody keeps from root but the
// kernel.
func TestT17_TheEnvironmentOfAnotherProcessStaysItsOwn(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	host := exec.Command("/bin/sleep", "1000")
	host.Env = []string{"CANARY_KEY=canary-value"}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = host.Process.Kill()
		_ = host.Wait()
	})
	read := fmt.Sprintf(`tr '\0' '\n' < /proc/%d/environ`, host.Process.Pid)
	c.gives(session.Confinement{}, read, "CANARY_KEY=canary-value")
	for _, bounds := range bound {
		if os.Getuid() != 0 && bounds.Files == "" { // a user's own processes: offline alone is no file policy
			continue
		}
		for _, command := range []string{read, "sh -c " + strconv.Quote(strings.ReplaceAll(read, `\`, `\\`)), `python3 -c 'print(open("/proc/` + fmt.Sprint(host.Process.Pid) + `/environ").read())'`} {
			if got, exit := c.run(bounds, command); exit == 0 || strings.Contains(got, "canary") {
				t.Errorf("%+v: %s: exit %d: %s", bounds, command, exit, got)
			}
		}
	}
}

var capabilitySet = regexp.MustCompile(`(?m)^(Cap\w+):\s*([0-9a-f]+)$`)

// For a user without capabilities only the bounding set holds any, and stays: nothing
// can be had from it.
func TestT17_RootKeepsNoRightThatReachesOutside(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	gone := []int{unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_SYS_ADMIN, unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_BPF,
		unix.CAP_MKNOD, unix.CAP_SYS_BOOT, unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_DAC_READ_SEARCH}
	stays := []int{unix.CAP_DAC_OVERRIDE, unix.CAP_CHOWN, unix.CAP_FOWNER, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_KILL}
	free, _ := c.run(session.Confinement{}, `cat /proc/self/status`)
	for _, bounds := range bound {
		status, _ := c.run(bounds, `sh -c "cat /proc/self/status"`)
		if !strings.Contains(status, "NoNewPrivs:\t1\n") {
			t.Errorf("%+v: it can get new privileges:\n%s", bounds, status)
		}
		had := sets(t, free)
		for name, set := range sets(t, status) {
			for _, n := range gone {
				if set>>n&1 != 0 && (name != "CapBnd" || os.Getuid() == 0) {
					t.Errorf("%+v: %s holds capability %d", bounds, name, n)
				}
			}
			for _, n := range stays {
				if set>>n&1 != had[name]>>n&1 {
					t.Errorf("%+v: %s: capability %d changed", bounds, name, n)
				}
			}
		}
	}
}

func sets(t *testing.T, status string) map[string]uint64 {
	t.Helper()
	found := map[string]uint64{}
	for _, m := range capabilitySet.FindAllStringSubmatch(status, -1) {
		set, err := strconv.ParseUint(m[2], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		found[m[1]] = set
	}
	if len(found) != 5 {
		t.Fatalf("five sets are %v in\n%s", found, status)
	}
	return found
}

// Package tools of root go on as ever inside.
func TestT17_RootWorksInsideAsEver(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	if os.Getuid() != 0 {
		c.gives(workspaceWrite, `touch f; chown $(id -u) f; chmod 600 f; stat -c %a f`, "600")
		return
	}
	c.gives(workspaceWrite, `touch f; chown 1234:1234 f; chmod 000 f; echo x > f; stat -c '%u %a' f; cat f`, "1234 0\nx")
}
