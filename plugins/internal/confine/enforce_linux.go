package confine

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	kernel "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/tureen-host/tureen/host/session"
)

// notConfined is the exit status of a command that was not started because it could
// not be bound; shells use it for what cannot be run.
const notConfined = 126

// Enforced tells which version of Landlock the kernel offers, and whether commands
// can be bound at all.
func Enforced() (abi int, ok bool) { return enforced() }

var enforced = sync.OnceValues(func() (int, bool) {
	abi, err := kernel.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return 0, false
	}
	_, err = os.Stat(self)
	return abi, err == nil
})

// become binds this process and replaces it by argv. It returns where that fails;
// the command has not run then.
func become(bounds string, argv []string) int {
	runtime.LockOSThread() // capabilities and the filter of sockets bind one thread: the one that goes on
	var b Bounds
	err := json.Unmarshal([]byte(bounds), &b)
	if err == nil {
		err = giveUp()
	}
	if err == nil {
		err = b.apply()
	}
	if err == nil {
		err = syscall.Exec(argv[0], argv, os.Environ())
	}
	fmt.Fprintf(os.Stderr, "the command was not started, because its file policy could not be put into force: %v\n", err)
	return notConfined
}

const (
	// changes is what may be done in a directory that may be written. Device nodes
	// are left out: through one of a disk everything could be written.
	changes landlock.AccessFSSet = kernel.AccessFSExecute | kernel.AccessFSReadFile | kernel.AccessFSReadDir |
		kernel.AccessFSWriteFile | kernel.AccessFSTruncate | kernel.AccessFSRemoveDir | kernel.AccessFSRemoveFile |
		kernel.AccessFSMakeDir | kernel.AccessFSMakeReg | kernel.AccessFSMakeSock | kernel.AccessFSMakeFifo | kernel.AccessFSMakeSym
	// abiRefer is the version that can let a file move between two directories.
	abiRefer = 2
	// abiHelpers is the version that knows sockets with a path.
	abiHelpers = 9
)

// apply binds the process for good. Whatever the kernel can enforce of it is
// enforced; that there is Landlock at all is checked.
func (b Bounds) apply() error {
	abi, ok := Enforced()
	if !ok {
		return fmt.Errorf("the kernel has no Landlock")
	}
	config := landlock.V11.BestEffort()
	var rules []landlock.Rule
	if b.Files == session.FilesFull {
		config.HandledAccessFS = 0
	} else {
		var err error
		if rules, err = b.rules(abi); err != nil {
			return err
		}
	}
	if !b.Offline {
		config.HandledAccessNet = 0
	}
	if err := config.Restrict(rules...); err != nil {
		return err
	}
	return filterSockets(b.Offline, b.Files != session.FilesFull && abi < abiHelpers)
}

func (b Bounds) rules(abi int) ([]landlock.Rule, error) {
	changes := changes
	if abi >= abiRefer {
		changes |= kernel.AccessFSRefer
	}
	rules := []landlock.Rule{
		landlock.RODirs("/"),
		landlock.PathAccess(kernel.AccessFSReadFile|kernel.AccessFSWriteFile|kernel.AccessFSTruncate,
			"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty").IgnoreIfMissing(),
	}
	if b.Files == session.FilesWorkspaceWrite { // semaphores and memory that processes share
		rules = append(rules, landlock.PathAccess(changes, "/dev/shm").IgnoreIfMissing())
	}
	for _, dir := range b.Write {
		if b.Lent != nil && dir == b.Lent.Path {
			fd, err := b.Lent.open()
			if err != nil {
				return nil, err
			}
			dir = fmt.Sprintf("/proc/self/fd/%d", fd) // closed by exec
		}
		rules = append(rules, landlock.PathAccess(changes, dir).IgnoreIfMissing())
	}
	return rules, nil
}
