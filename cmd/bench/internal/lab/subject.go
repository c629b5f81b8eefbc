package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
)

// stopping is how long a program has to end once it is told to.
const stopping = 10 * time.Second

// Subject is one process under measurement, with what it starts. Run it once.
type Subject struct {
	box     *Sandbox
	cmd     *exec.Cmd
	started chan struct{}
}

// Tureen is a call of the program.
func (s *Sandbox) Tureen(args ...string) *Subject { return s.subject(s.lab.Tureen, args...) }

// Floor is a run of the floor.
func (s *Sandbox) Floor(commits, calls int) *Subject {
	return s.subject(s.lab.Self, "floor", "-url", s.lab.Endpoint.BaseURL(), "-commits", strconv.Itoa(commits), "-calls", strconv.Itoa(calls),
		"-db", s.Path("floor.db"), "-socket", s.Path("run", "s"))
}

// Crowd runs many sessions in one process of their own and returns what it prints.
func (s *Sandbox) Crowd(ctx context.Context, profile, file string, sessions, steps int) ([]byte, error) {
	run, err := s.subject(s.lab.Self, "crowd", "-tureen", s.lab.Tureen, "-profile", profile, "-data", s.Path("data"), "-file", file,
		"-sessions", strconv.Itoa(sessions), "-steps", strconv.Itoa(steps)).run(ctx, endpoint.Calls(0, endpoint.Call{}))
	if err != nil {
		return nil, err
	}
	return run.Stdout, nil
}

func (s *Sandbox) subject(program string, args ...string) *Subject {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = s.Path("work"), s.env
	return &Subject{box: s, cmd: cmd, started: make(chan struct{})}
}

// Pid waits for the process to be started.
func (s *Subject) Pid() int {
	<-s.started
	return s.cmd.Process.Pid
}

// Run is what came of a subject.
type Run struct {
	Began  time.Time     // just before the process was started
	CPU    time.Duration // user and system, of the process and all that it started and waited for
	Tape   []endpoint.Exchange
	Stdout []byte
	took   time.Duration // until it ended
}

// Time runs a process that asks nothing of the endpoint, and returns how long it took
// from its start to its end.
func (s *Subject) Time(ctx context.Context) (time.Duration, error) {
	var took time.Duration
	run, err := s.run(ctx, endpoint.Calls(0, endpoint.Call{}))
	if err == nil {
		took = run.took
		if len(run.Tape) > 0 {
			err = fmt.Errorf("%s asked the model", s.cmd.Args[1])
		}
	}
	return took, err
}

// Run starts the process, lets script answer it and waits for its end. An exit
// code other than 0 is an error with the end of stderr.
func (s *Subject) Run(ctx context.Context, script endpoint.Script) (*Run, error) {
	run, err := s.run(ctx, script)
	if err == nil && len(run.Tape) == 0 {
		return nil, fmt.Errorf("%s sent no request\n%s", s.cmd.Args[1], s.lastWords())
	}
	return run, err
}

func (s *Subject) run(ctx context.Context, script endpoint.Script) (*Run, error) {
	stderr, err := os.Create(s.box.Path("stderr"))
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	var stdout bytes.Buffer
	s.cmd.Stdout, s.cmd.Stderr = &stdout, stderr
	tape := s.box.lab.Endpoint.Record(script)
	run := &Run{Began: time.Now()}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.cmd.Path, err)
	}
	close(s.started)
	stop := context.AfterFunc(ctx, func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		time.AfterFunc(stopping, func() { _ = s.cmd.Process.Kill() })
	})
	err = s.cmd.Wait()
	run.took = time.Since(run.Began)
	stop()
	run.CPU = s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	run.Stdout = stdout.Bytes()
	var played error
	run.Tape, played = tape.Exchanges()
	if err = errors.Join(context.Cause(ctx), played, err); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", s.cmd.Args[1], err, s.lastWords())
	}
	return run, nil
}

// lastWords are the end of stderr.
func (s *Subject) lastWords() []byte {
	const most = 2000
	text, _ := os.ReadFile(s.box.Path("stderr"))
	return text[max(0, len(text)-most):]
}

// First is the time from the start of the process to the arrival of its first
// request.
func (r *Run) First() time.Duration { return r.Tape[0].Arrived.Sub(r.Began) }

// Steps are the times from the end of each answer to the arrival of the request
// that follows it.
func (r *Run) Steps() []time.Duration {
	steps := make([]time.Duration, len(r.Tape)-1)
	for i := range steps {
		steps[i] = r.Tape[i+1].Arrived.Sub(r.Tape[i].Answered)
	}
	return steps
}

// Result is the part of "-o json" that is checked here.
type Result struct {
	Session    string         `json:"session"`
	Status     string         `json:"status"`
	Steps      int            `json:"steps"`
	ModelCalls map[string]int `json:"model_calls"`
	Compacted  []struct {
		Millis float64 `json:"ms"`
		Calls  int     `json:"model_calls"`
		Before int     `json:"tokens_before"`
		After  int     `json:"tokens_after"`
	} `json:"compactions"`
}

// Result reads what a run of Tureen printed with "-o json". A run that did not
// complete is an error.
func (r *Run) Result() (Result, error) {
	var result Result
	if err := json.Unmarshal(r.Stdout, &result); err != nil {
		return result, fmt.Errorf("read the result %.200q: %w", r.Stdout, err)
	}
	if result.Status != "completed" {
		return result, fmt.Errorf("the run ended with status %q: %s", result.Status, r.Stdout)
	}
	return result, nil
}
