package measure

import (
	"bytes"
	"context"
	"fmt"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

const (
	// roomy is a window with its line at about 210,000 tokens.
	roomy = 256 << 10
	// notesEach are the notes of each home that a boot is made from.
	notesEach = 100
)

// notesoup measures resets of a surface of 200,000 tokens, with a boot from full
// homes.
func (b *Bench) notesoup(ctx context.Context, r Round) error {
	return b.inSandbox(func(box *lab.Sandbox) error {
		file, err := box.File("large.txt", largeFile)
		if err != nil {
			return err
		}
		profile, err := box.Profile(lab.Profile{Strategy: "notesoup", Window: roomy})
		if err != nil {
			return err
		}
		first, err := box.Tureen("run", "-P", profile, "-o", "json", prompt).Run(ctx, endpoint.Calls(0, endpoint.Call{}))
		if err != nil {
			return err
		}
		result, err := first.Result()
		if err != nil {
			return err
		}
		if err := box.FillNotes(ctx, result.Session, notesEach); err != nil {
			return err
		}
		script := compacting(readCall(file), b.Plan.Resets, false, func(_ int, body []byte) error {
			if homes := bytes.Count(body, fmt.Appendf(nil, ", %d notes", notesEach)); homes != lab.Homes {
				return fmt.Errorf("the boot shows %d homes of %d notes, want %d", homes, notesEach, lab.Homes)
			}
			return nil
		})
		run, err := box.Tureen("resume", result.Session, "-o", "json", prompt).Run(ctx, script)
		if err != nil {
			return err
		}
		return b.compactions(r, "tureen.reset", run, false)
	})
}

// summary measures the host's part of a compaction that asks the model.
func (b *Bench) summary(ctx context.Context, r Round) error {
	return b.inSandbox(func(box *lab.Sandbox) error {
		file, err := box.File("large.txt", largeFile)
		if err != nil {
			return err
		}
		profile, err := box.Profile(lab.Profile{Strategy: "summary", Window: roomy})
		if err != nil {
			return err
		}
		run, err := box.Tureen("run", "-P", profile, "-o", "json", prompt).Run(ctx, compacting(readCall(file), b.Plan.Resets, true, nil))
		if err != nil {
			return err
		}
		return b.compactions(r, "tureen.summary", run, true)
	})
}

// compactions takes the time that each compaction adds to a usual step, model
// calls excluded, and how many calls there were.
func (b *Bench) compactions(r Round, name string, run *lab.Run, asks bool) error {
	result, err := run.Result()
	if err != nil {
		return err
	}
	cost, usual, calls := split(run, asks)
	if len(cost) != len(result.Compacted) || len(cost) != b.Plan.Resets {
		return fmt.Errorf("%d compactions seen at the endpoint, %d reported, %d wanted", len(cost), len(result.Compacted), b.Plan.Resets)
	}
	reported := 0
	for _, n := range result.ModelCalls {
		reported += n
	}
	if own := len(run.Tape) - result.Steps; own != calls || len(run.Tape) != reported {
		return fmt.Errorf("%d requests arrived, %d of them for compactions as their bytes tell, for %d steps and %d reported calls", len(run.Tape), calls, result.Steps, reported)
	}
	var told, before []float64
	for _, c := range result.Compacted {
		told, before = append(told, c.Millis), append(before, float64(c.Before))
	}
	r[name+".usual"], r[name+".cost"] = Median(usual), Median(cost)-Median(usual)
	r[name+".told"], r[name+".tokens"] = Median(told), Median(before)
	r[name+".calls"] = float64(len(run.Tape)-result.Steps) / float64(len(cost))
	return nil
}
