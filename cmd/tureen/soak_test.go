//go:build soak

package main_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

var (
	soakSeed  = flag.Uint64("seed", 0, "seed of the soak; 0 is the clock's")
	soakKills = flag.Int("kills", 500, "how many kills the soak makes at least")
)

// tally is what a soak came to.
type tally struct {
	mu                               sync.Mutex
	sessions, runs, hosts, plugins   int
	reports, whole                   int // of the demonstration's task, and with all findings
	lost, duplicates, unpaired, rest int
	orphans                          int
	took                             time.Duration // of a run that was let alone, lately
}

func (s *tally) add(f faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost, s.duplicates, s.unpaired = s.lost+len(f.Lost), s.duplicates+len(f.Duplicates), s.unpaired+len(f.Unpaired)
	s.orphans, s.rest = s.orphans+len(f.Orphans), s.rest+len(f.Broken)
}

func (s *tally) count(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// TestSoak kills hosts and plugins at every boundary of one session and at random
// moments and points of many, resumes what is left until it is completed, and counts
// what was lost, done twice, left open or left behind. The seed decides which
// sessions and points; the moments depend on the machine as well.
func TestSoak(t *testing.T) {
	seed := *soakSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	fmt.Printf("soak: -seed %d -kills %d\n", seed, *soakKills)
	s := &tally{took: 700 * time.Millisecond}
	began := time.Now()
	t.Run("boundaries", func(t *testing.T) { s.boundaries(t) })
	t.Run("sessions", func(t *testing.T) {
		for i, planned := 0, 0; planned < *soakKills; i++ {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			j := newJob(t, i, rng, s)
			planned += j.kills
			t.Run(fmt.Sprintf("%d-%s", i, j.name), func(t *testing.T) {
				t.Parallel()
				j.work(t)
			})
		}
	})
	fmt.Printf("soak: seed %d, %s: %d sessions, %d runs, %d kills (%d of hosts, %d of plugins); reports whole: %d of %d\n",
		seed, time.Since(began).Round(time.Second), s.sessions, s.runs, s.hosts+s.plugins, s.hosts, s.plugins, s.whole, s.reports)
	fmt.Printf("soak: lost events %d, duplicate dispatches %d, unpaired calls %d, orphans %d, other faults %d\n", s.lost, s.duplicates, s.unpaired, s.orphans, s.rest)
	if n := s.hosts + s.plugins; n < *soakKills {
		t.Errorf("%d kills, want %d", n, *soakKills)
	}
	if s.lost+s.duplicates+s.unpaired+s.orphans+s.rest > 0 {
		t.Error("not all zero")
	}
}

// boundaries kills the host once before, in and after each append of the rich plan.
func (s *tally) boundaries(t *testing.T) {
	const most = 60 // appends; a run that has fewer is let alone
	for n := 1; n <= most; n++ {
		for _, when := range []string{"before", "during", "after"} {
			point := fmt.Sprintf("append:%d:%s", n, when)
			t.Run(point, func(t *testing.T) {
				t.Parallel()
				c := rich(t, user(t))
				j := &job{name: point, tally: s}
				k := c.start(t, point, c.run()...)
				k.wait(t)
				s.count(func() { s.sessions, s.runs = s.sessions+1, s.runs+1 })
				if !k.byKill {
					if n == 1 || k.exit != 0 {
						t.Errorf("not killed; it ended with %d: %s", k.exit, &k.stderr)
					}
					return
				}
				s.count(func() { s.hosts++ })
				j.checkStdout(t, c, k)
				c.goOn(t, c.lastSession())
				j.found(t, c.audit(t, c.lastSession()))
			})
		}
	}
}

// job is one session under fire.
type job struct {
	name     string
	strategy string
	plan     bool // the rich plan, else the demonstration's task
	plugins  bool // the plugins are killed, else the host
	kills    int
	rng      *rand.Rand
	tally    *tally
}

func newJob(_ *testing.T, i int, rng *rand.Rand, s *tally) *job {
	j := &job{strategy: []string{"notesoup", "summary"}[i%2], plan: i/2%3 != 2, plugins: i/6%4 == 3, kills: 1 + rng.IntN(4), rng: rng, tally: s}
	what := "demo"
	if j.plan {
		what = "plan"
	}
	victim := "host"
	if j.plugins {
		victim, j.kills = "plugins", 1+rng.IntN(2) // five within ten minutes would disable one
	}
	j.name = strings.Join([]string{what, j.strategy, victim}, "-")
	return j
}

func (j *job) crew(t *testing.T) *crew {
	if j.plan {
		c := rich(t, user(t))
		c.flags = append(c.flags, "-c", "compaction.strategy="+j.strategy)
		return c
	}
	u := user(t)
	logs, _ := filepath.Glob("../../testdata/demo/logs/*")
	for n, from := range logs[:14] {
		text, err := os.ReadFile(from)
		if err == nil && n == 0 {
			err = os.Mkdir(u.path("work", "logs"), 0o700)
		}
		if err == nil {
			err = os.WriteFile(u.path("work", "logs", filepath.Base(from)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &crew{sandbox: u, flags: []string{"-P", "demo", "-c", "compaction.strategy=" + j.strategy}, task: demoTask}
}

// work runs the session, kill after kill, until it is completed.
func (j *job) work(t *testing.T) {
	c := j.crew(t)
	j.tally.count(func() { j.tally.sessions++ })
	for made, tries := 0, 0; made < j.kills && tries < 30; tries++ {
		args := c.run()
		if id := c.lastSession(); id != "" {
			args = c.resume(id, j.word(t, c, id))
		}
		if j.plugins {
			made += j.strikePlugins(t, c, args, j.kills-made)
		} else {
			made += j.strikeHost(t, c, args, tries)
		}
	}
	if c.lastSession() == "" {
		if k := c.crash(t, "", c.run()...); k.exit != 0 {
			t.Errorf("run ended with %d: %s", k.exit, &k.stderr)
		}
	}
	id := c.lastSession()
	c.goOn(t, id)
	j.found(t, c.audit(t, id))
	if !j.plan {
		j.checkReport(t, c, id)
	}
}

// word is what a resume is given: the task where the session never heard of it, or
// is through with it.
func (j *job) word(t *testing.T, c *crew, id string) string {
	if !c.prompted(t, id) || c.status(t, id) == "completed" {
		return c.task
	}
	return []string{"--continue", "Continue."}[j.rng.IntN(2)]
}

func (j *job) found(t *testing.T, f faults) {
	t.Helper()
	j.tally.add(f)
	if !f.none() {
		t.Errorf("%s:\n%s", j.name, f.String())
	}
}

// strikeHost kills the host once, at a random moment or a named point, and looks
// at what it left. It returns 0 where the run was over before.
func (j *job) strikeHost(t *testing.T, c *crew, args []string, tries int) int {
	point, after := "", time.Duration(0)
	if tries%4 < 2 && j.rng.IntN(2) == 0 {
		point = fmt.Sprintf("append:%d:%s", 1+j.rng.IntN(40), []string{"before", "during", "after"}[j.rng.IntN(3)])
	} else {
		j.tally.count(func() { after = time.Duration(1.1 * j.rng.Float64() * float64(j.tally.took)) })
	}
	began := time.Now()
	k := c.start(t, point, args...)
	switch {
	case point != "":
	case j.rng.IntN(5) == 0: // while it closes
		ended := make(chan struct{})
		defer close(ended)
		go k.killOnce(`"type":"turn.completed"`, time.Duration(j.rng.IntN(60_000))*time.Microsecond, ended)
	default:
		timer := time.AfterFunc(after, func() { _ = k.cmd.Process.Kill() })
		defer timer.Stop()
	}
	k.wait(t)
	j.tally.count(func() { j.tally.runs++ })
	j.checkStdout(t, c, k)
	if !k.byKill {
		if k.exit != 0 {
			t.Errorf("%s: a run that was let alone ended with %d: %s", j.name, k.exit, &k.stderr)
		}
		j.tally.count(func() { j.tally.took = (7*j.tally.took + time.Since(began)) / 8 })
		return 0
	}
	j.tally.count(func() { j.tally.hosts++ })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		left := c.processes()
		if len(left) == 0 {
			return 1
		}
		if time.Now().After(deadline) {
			j.found(t, faults{Orphans: left})
			return 1
		}
	}
}

// killOnce kills the run some time after it has said something.
func (k *killed) killOnce(said string, after time.Duration, ended chan struct{}) {
	for !bytes.Contains(k.said(), []byte(said)) {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
	time.Sleep(after)
	_ = k.cmd.Process.Kill()
}

// strikePlugins kills random plugins at random moments of a run, which goes on.
func (j *job) strikePlugins(t *testing.T, c *crew, args []string, most int) (made int) {
	k := c.start(t, "", args...)
	ended := make(chan struct{})
	go func() { k.wait(t); close(ended) }()
	for !bytes.Contains(k.said(), []byte(`"type":"step.started"`)) { // a plugin that cannot start is another matter
		select {
		case <-ended:
			if k.exit != 0 {
				t.Errorf("%s: ended with %d before a step: %s", j.name, k.exit, &k.stderr)
			}
			return 0
		case <-time.After(2 * time.Millisecond):
		}
	}
	names := []string{"shell", "files", "search", j.strategy}
	for made < most {
		var pause time.Duration
		j.tally.count(func() { pause = time.Duration(0.4 * j.rng.Float64() * float64(j.tally.took)) })
		select {
		case <-ended:
		case <-time.After(pause):
		}
		pid := c.plugin(names[j.rng.IntN(len(names))])
		if pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
			made++
			j.tally.count(func() { j.tally.plugins++ })
		}
		select {
		case <-ended:
			most = made
		default:
		}
	}
	<-ended
	j.tally.count(func() { j.tally.runs++ })
	j.checkStdout(t, c, k)
	if k.exit != 0 {
		j.found(t, faults{Broken: []string{fmt.Sprintf("the run ended with %d: %s", k.exit, &k.stderr)}})
	}
	return made
}

// checkStdout wants what was said in the log.
func (j *job) checkStdout(t *testing.T, c *crew, k *killed) {
	t.Helper()
	id := c.lastSession()
	if id == "" {
		if said := essence(k.said()); len(said) > 0 {
			j.found(t, faults{Lost: said})
		}
		return
	}
	events, violations, err := c.events(id)
	if err != nil {
		t.Fatal(err)
	}
	f := faults{Lost: lost(k.said(), events)}
	for _, v := range violations {
		f.Broken = append(f.Broken, fmt.Sprintf("before the repair: event %d breaks %q: %s", v.Seq, v.Rule, v.Text))
	}
	j.found(t, f)
}

// checkReport counts how many reports are whole: that depends on what the model
// saved before it was killed, and is no fault.
func (j *job) checkReport(t *testing.T, c *crew, id string) {
	events, _, err := c.events(id)
	if err != nil {
		t.Fatal(err)
	}
	text := "" // of all answers: a report may stand before a further "Continue."
	for _, e := range events {
		if a, err := session.Decode[session.Assistant](e); err == nil && e.Kind == session.KindMessageAssistant && len(a.Message.Calls()) == 0 {
			text += a.Message.Text()
		}
	}
	var missing []string
	files, _ := filepath.Glob(c.path("work", "logs", "*"))
	for _, file := range files {
		content, _ := os.ReadFile(file)
		for line := range strings.Lines(string(content)) {
			if strings.HasPrefix(line, "Finding:") {
				if !strings.Contains(text, strings.TrimSpace(line)) {
					missing = append(missing, filepath.Base(file))
				}
			}
		}
	}
	j.tally.count(func() {
		j.tally.reports++
		if len(missing) == 0 {
			j.tally.whole++
		}
	})
	if len(missing) > 0 {
		t.Logf("the report lacks the findings of %v", missing)
	}
}
