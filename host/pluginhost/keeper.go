package pluginhost

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// recognise takes what the first generation says; the later ones must agree.
func (i *Instance) recognise(info sdk.Info) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.info.Name == "" {
		i.info.Info = info
		i.remote = sdk.NewRemote(link{i}, info.Name)
		return nil
	}
	if info.Name != i.info.Name || !slices.Equal(info.Roles, i.info.Roles) {
		return fmt.Errorf("it was %q with roles %v and is %q with roles %v now: start the host again", i.info.Name, i.info.Roles, info.Name, info.Roles)
	}
	return nil
}

// adopt makes a READY generation the current one.
func (i *Instance) adopt(g *generation) {
	i.set(func() { i.current = g })
	g.kept.Store(true)
	i.report(g.number, "started", i.info.Name+"@"+i.info.Version)
	go g.watchHealth()
}

func (i *Instance) set(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
	close(i.changed)
	i.changed = make(chan struct{})
}

func (i *Instance) report(generation int, state, detail string) {
	i.sup.opts.OnState(session.PluginState{Plugin: i.info.Name, Generation: generation, State: state, Detail: detail})
}

// ready returns the READY generation. It waits for one, within ctx and for a
// short while only, where the process has ended.
func (i *Instance) ready(ctx context.Context) (*generation, error) {
	limit := time.NewTimer(i.deadlines().Ready)
	defer limit.Stop()
	for {
		i.mu.Lock()
		g, fault, changed := i.current, i.fault, i.changed
		i.mu.Unlock()
		switch {
		case fault != nil:
			return nil, fault
		case !g.gone():
			return g, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-limit.C:
			return nil, g.exited()
		}
	}
}

// keep starts a new generation each time the current one ends.
func (i *Instance) keep() {
	defer close(i.done)
	var history crashes
	for g := i.newest(); g != nil; g = i.revive(g, &history) {
		select {
		case <-i.life.Done():
			return
		case <-g.proc.exited:
		}
	}
}

func (i *Instance) newest() *generation {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.current
}

// revive brings up the generation after g. It returns nil where there will be
// none: the host stops, or the plugin has ended once too often.
func (i *Instance) revive(g *generation, history *crashes) *generation {
	detail := g.ending()
	if i.life.Err() == nil {
		i.report(g.number, "crashed", detail)
	}
	close(g.told)
	g.release()
	for number := g.number; i.life.Err() == nil; number++ {
		if number > g.number {
			i.report(number, "crashed", detail)
		}
		pause, disabled := history.add(time.Now(), i.deadlines())
		if disabled {
			i.disable(number, detail)
			return nil
		}
		if !sleep(i.life, pause) {
			return nil
		}
		next, err := i.restart(number + 1)
		if err == nil {
			i.adopt(next)
			return next
		}
		detail = err.Error()
	}
	return nil
}

func (i *Instance) restart(number int) (*generation, error) {
	g, err := i.startGeneration(i.life, number)
	if err != nil {
		return nil, err
	}
	if err := i.reopen(i.life, g); err != nil {
		g.kill("")
		g.release()
		return nil, err
	}
	return g, nil
}

func (i *Instance) disable(number int, detail string) {
	i.set(func() {
		i.fault = &sdk.ExitedError{Plugin: i.info.Name, Generation: number, Detail: detail, Disabled: true}
	})
	i.report(number, "disabled", fmt.Sprintf("%d crashes within %s; last: %s", i.deadlines().MaxCrashes, i.deadlines().CrashWindow, detail))
}

// close stops the plugin for good. keep must have begun.
func (i *Instance) close(ctx context.Context) {
	i.set(func() {
		if i.fault == nil {
			i.fault = &sdk.ExitedError{Plugin: i.info.Name, Generation: i.current.number, Detail: "the host is stopping it"}
		}
	})
	i.end()
	<-i.done // no further generation comes
	i.newest().stop(ctx)
}

// crashes remembers the recent ends of a plugin's processes.
type crashes struct {
	times  []time.Time
	streak int // since the last long stretch of health
}

// add counts a crash and tells how long to wait, or that it was one too many.
func (c *crashes) add(now time.Time, d Deadlines) (pause time.Duration, disabled bool) {
	if len(c.times) > 0 && now.Sub(c.times[len(c.times)-1]) > d.CrashWindow {
		c.streak = 0
	}
	c.times = append(c.times, now)
	c.times = slices.DeleteFunc(c.times, func(t time.Time) bool { return now.Sub(t) > d.CrashWindow })
	pause = d.Backoff[min(c.streak, len(d.Backoff)-1)]
	c.streak++
	pause += time.Duration(float64(pause) * 0.2 * rand.Float64()) // so that plugins do not start in step
	return pause, len(c.times) >= d.MaxCrashes
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
