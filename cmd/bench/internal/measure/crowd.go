package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/tureen-host/tureen/cmd/bench/internal/crowd"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

// Crowd says how many sessions run on one engine, and the steps of each.
type Crowd struct{ Sessions, Steps int }

// crowd measures many sessions in one process.
func (b *Bench) crowd(ctx context.Context, r Round) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	return b.inSandbox(func(box *lab.Sandbox) error {
		file, err := box.File("small.txt", smallFile)
		if err != nil {
			return err
		}
		profile, err := box.Profile(lab.Profile{Strategy: "notesoup", Window: roomy})
		if err != nil {
			return err
		}
		out, err := box.Crowd(ctx, profile, file, b.Plan.Crowd.Sessions, b.Plan.Crowd.Steps)
		if err != nil {
			return err
		}
		var f crowd.Figures
		if err := json.Unmarshal(out, &f); err != nil {
			return fmt.Errorf("read the figures %.200q: %w", out, err)
		}
		r["tureen.crowd.sessions"] = float64(b.Plan.Crowd.Sessions)
		r["tureen.crowd.rate"], r["tureen.crowd.step"] = f.Rate, 1000*float64(runtime.GOMAXPROCS(0))/f.Rate
		r["tureen.crowd.p50"], r["tureen.crowd.p99"] = f.P50, f.P99
		r["tureen.crowd.idle"], r["tureen.crowd.idle.host"], r["tureen.crowd.create"] = f.Idle, f.IdleHost, f.Create
		r["tureen.crowd.goroutines"] = f.Goroutine
		return nil
	})
}
