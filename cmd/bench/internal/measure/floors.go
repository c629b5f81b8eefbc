package measure

import (
	"context"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

// hooksUsed is how many hooks the shipped plugins of the measured profile declare:
// each one is a gRPC call in the floor that read steps are compared with.
const hooksUsed = 0

// floor is one kind of floor.
type floor struct {
	name           string
	commits, calls int
}

// The floors. floorFull2 is the one that the budget of a read step names,
// floorFull that of a shell step. floorCall is for information: what it costs that
// another process answers one gRPC call a step, as the plugin of a tool does.
var (
	floorMemory = floor{name: "floor.memory"}
	floorFull   = floor{name: "floor.full", commits: 1}
	floorFull2  = floor{name: "floor.full2", commits: 2, calls: hooksUsed}
	floorCall   = floor{name: "floor.full2call", commits: 2, calls: hooksUsed + 1}
)

// floors measures read steps of every floor, and how the cost grows for the one
// that read steps are compared with.
func (b *Bench) floors(ctx context.Context, r Round) error {
	for _, f := range []floor{floorMemory, floorFull, floorFull2, floorCall} {
		runs := map[int]*lab.Run{}
		for _, n := range b.Plan.Steps {
			if n > b.Plan.Usual() && f != floorFull2 {
				continue
			}
			err := b.inSandbox(func(box *lab.Sandbox) error {
				file, err := box.File("small.txt", smallFile)
				if err != nil {
					return err
				}
				runs[n], err = box.Floor(f.commits, f.calls).Run(ctx, endpoint.Calls(n, readCall(file)))
				return err
			})
			if err != nil {
				return err
			}
		}
		b.stepFigures(r, f.name+".read", runs)
	}
	return nil
}

// shellFloors measures shell steps of the floors.
func (b *Bench) shellFloors(ctx context.Context, r Round) error {
	for _, f := range []floor{floorMemory, floorFull} {
		err := b.inSandbox(func(box *lab.Sandbox) error {
			n := b.Plan.Usual()
			run, err := box.Floor(f.commits, f.calls).Run(ctx, endpoint.Calls(n, shellCall))
			if err == nil {
				b.stepFigures(r, f.name+".shell", map[int]*lab.Run{n: run})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
