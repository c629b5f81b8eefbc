package measure

import (
	"bytes"
	"context"
	"fmt"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
	"github.com/tureen-host/tureen/cmd/bench/internal/grow"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

// grownSteps are the read steps after a resume; perWindow those between two resets.
const (
	grownSteps = 20
	perWindow  = 320
)

// grown is a sandbox with one session of a size.
type grown struct {
	*lab.Sandbox
	size       int
	id, read   string          // the session, the file that it reads
	historical []endpoint.Call // what it asks of its history, in order
}

// historical are the figures of the calls of a grown session, in order.
var historical = []string{"history_read", "history_list", "history_word", "history_windows"}

// scale measures sessions of ever longer logs, which all end with the same surface, by
// turns.
func (b *Bench) scale(ctx context.Context, r Round) error {
	var all []*grown
	defer func() {
		for _, g := range all {
			g.Close()
		}
	}()
	for _, size := range b.Plan.Sizes {
		g, err := b.grow(ctx, size)
		if err != nil {
			return fmt.Errorf("a log of %d events: %w", size, err)
		}
		all = append(all, g)
		first, whole, err := g.Index(ctx, g.id)
		if err != nil {
			return fmt.Errorf("a log of %d events: %w", size, err)
		}
		r[fmt.Sprintf("tureen.scale.%d.search_first", size)], r[fmt.Sprintf("tureen.scale.%d.index", size)] = ms(first), ms(whole)
	}
	seen := map[string][]float64{}
	for range b.Plan.Starts {
		for _, g := range all {
			if err := g.measure(ctx, func(name string, v float64) {
				name = fmt.Sprintf("tureen.scale.%d.%s", g.size, name)
				seen[name] = append(seen[name], v)
			}); err != nil {
				return fmt.Errorf("a log of %d events: %w", g.size, err)
			}
		}
	}
	for name, values := range seen {
		r[name] = Median(values)
	}
	for _, name := range append([]string{"first", "step", "show", "list", "context", "host", "search_first", "index"}, historical...) {
		r["tureen.short."+name] = r[fmt.Sprintf("tureen.scale.%d.%s", b.Plan.Sizes[0], name)]
		r["tureen.large."+name] = r[fmt.Sprintf("tureen.scale.%d.%s", b.Plan.Sizes[len(b.Plan.Sizes)-1], name)]
	}
	return nil
}

// grow makes a session of a size.
func (b *Bench) grow(ctx context.Context, size int) (*grown, error) {
	box, err := b.Lab.Sandbox()
	if err != nil {
		return nil, err
	}
	g := &grown{Sandbox: box, size: size}
	if g.read, err = box.File("small.txt", smallFile); err != nil {
		return g, err
	}
	profile, err := box.Profile(lab.Profile{Strategy: "notesoup", Window: roomy})
	if err != nil {
		return g, err
	}
	run, err := box.Tureen("run", "-P", profile, "-o", "json", prompt).Run(ctx, endpoint.Calls(0, endpoint.Call{}))
	if err != nil {
		return g, err
	}
	result, err := run.Result()
	if err != nil {
		return g, err
	}
	text := "0001 what is written here is read again and again, and in the end everybody knows it by heart\n"
	g.id, err = box.Grow(ctx, result.Session, grow.Log{Events: size, Window: perWindow, Text: text + text + text, Seed: uint64(size)})
	g.historical = []endpoint.Call{
		{Name: "history_read", Arguments: fmt.Sprintf(`{"from":%d,"to":%d}`, size/2, size/2+40)},
		{Name: "history_list", Arguments: `{"query":"written here"}`},
		{Name: "history_list", Arguments: fmt.Sprintf(`{"query":%q}`, grow.Word(1))},
		{Name: "history_windows", Arguments: `{}`},
	}
	return g, err
}

// measure resumes the session, takes steps, looks into its history and lets people look
// at it.
func (g *grown) measure(ctx context.Context, take func(name string, ms float64)) error {
	subject := g.Tureen("resume", g.id, "-o", "json", prompt)
	at := Round{}
	script := endpoint.Watched(g.script(), func(x endpoint.Exchange) error {
		if x.Ordinal != grownSteps {
			return nil
		}
		return memory(at, "now", subject.Pid())
	})
	run, err := subject.Run(ctx, script)
	if err == nil {
		_, err = run.Result()
	}
	if err != nil {
		return err
	}
	steps := millis(run.Steps())
	take("first", ms(run.First()))
	take("step", Median(steps[:grownSteps]))
	take("host", at["now.host"])
	for i, name := range historical {
		take(name, steps[grownSteps+i])
	}
	for name, args := range map[string][]string{
		"show": {"session", "show", g.id, "--last", "20"}, "list": {"session", "list"}, "context": {"context", "show", "--session", g.id},
	} {
		took, err := g.Tureen(args...).Time(ctx)
		if err != nil {
			return err
		}
		take(name, ms(took))
	}
	return nil
}

// script takes read steps, then asks the history. Each answer of it has to be one.
func (g *grown) script() endpoint.Script {
	read := readCall(g.read)
	return func(x endpoint.Exchange, body []byte) (endpoint.Reply, error) {
		n := x.Ordinal - grownSteps
		if n > 0 && !bytes.Contains(body[bytes.LastIndex(body, role):], []byte("ok history_")) {
			return endpoint.Reply{}, fmt.Errorf("%s answers %.300s", historical[n-1], body[bytes.LastIndex(body, role):])
		}
		switch {
		case n < 0:
			return endpoint.Reply{Call: &read}, nil
		case n < len(g.historical):
			return endpoint.Reply{Call: &g.historical[n]}, nil
		}
		return endpoint.Done, nil
	}
}

var role = []byte(`"role":`)
