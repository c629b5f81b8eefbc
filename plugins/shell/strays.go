package shell

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// outlivesMark is in the environment of commands that outlive their session, and of
// no other.
const outlivesMark = "TUREEN_OUTLIVES"

// strays are processes that have left the group of the command that started them and
// lost their parent since, whatever they did to their environment. Where the system
// gives them to this process, they are stopped once no command runs that they may
// belong to. It is safe for concurrent use.
type strays struct {
	once sync.Once
	mu   sync.Mutex
	own  map[int]bool // children that somebody here waits for
	// running counts the commands and jobs that end with this process; outlived tells
	// that one was started that does not.
	running  int
	outlived bool
	reported map[group]bool // the guardian knows of them
	looked   time.Time      // when they were last looked for
}

// stranger is a process of another session than this one's.
type stranger struct {
	pid, parent int
	group       group
}

// stray are the strays of this process.
var stray = strays{own: map[int]bool{}, reported: map[group]bool{}}

// begin comes before the start of a command, and is followed by end unless the command
// outlives the session.
func (s *strays) begin() {
	s.once.Do(adopt)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
}

// start starts a child of this process, which is known as one from its first moment.
func (s *strays) start(cmd *exec.Cmd, outlives bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	s.own[cmd.Process.Pid] = true
	if outlives {
		s.running--
		s.outlived = true
	}
	return nil
}

// waited tells that a child was waited for.
func (s *strays) waited(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.own, pid)
}

// end comes after a command and its group are gone. The last one stops the strays; with
// any other those are reaped that have ended.
func (s *strays) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.sweep(s.running == 0)
	if s.running == 0 { // their ids may be others' from now on
		s.tell(map[group]bool{})
	}
}

// report tells the guardian of what may become a stray, now and then while a command
// runs: once this process is killed nobody can find it any more.
func (s *strays) report() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.looked) < progressEvery/2 {
		return
	}
	s.looked = time.Now()
	seen := map[group]bool{}
	for _, p := range s.hidden() {
		if !seen[p.group] && !s.spared(p) {
			seen[p.group] = true
		}
	}
	s.tell(seen)
}

// tell has the guardian mind these groups of strays and no others. The caller holds mu.
func (s *strays) tell(seen map[group]bool) {
	for g := range seen {
		if !s.reported[g] {
			guard.tell("+", g)
		}
	}
	for g := range s.reported {
		if !seen[g] {
			guard.tell("-", g)
		}
	}
	s.reported = seen
}

// inherited is the environment of commands: without the mark of a command that has
// started this very program.
func inherited() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, outlivesMark+"=") {
			env = append(env, v)
		}
	}
	return env
}
