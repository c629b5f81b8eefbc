package measure

import (
	"bytes"
	"context"
	"fmt"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

// Strategies are those that ship and make room.
var Strategies = []string{"summary", "notesoup", "prune", "truncate"}

// Surfaces are the sizes at which a compaction of each is measured, in tokens.
var Surfaces = []int{50_000, 200_000}

// strategies measures one compaction of each strategy at each size.
func (b *Bench) strategies(ctx context.Context, r Round) error {
	for _, strategy := range Strategies {
		for _, tokens := range Surfaces {
			err := b.inSandbox(func(box *lab.Sandbox) error { return b.strategy(ctx, r, box, strategy, tokens) })
			if err != nil {
				return fmt.Errorf("%s at %d tokens: %w", strategy, tokens, err)
			}
		}
	}
	return nil
}

// strategy measures one compaction: a run whose reads fill a surface, and the step that
// crosses the line.
func (b *Bench) strategy(ctx context.Context, r Round, box *lab.Sandbox, strategy string, tokens int) error {
	file, err := box.File("large.txt", 2*largeFile) // long enough to be cut
	if err != nil {
		return err
	}
	profile, err := box.Profile(lab.Profile{Strategy: strategy, Window: tokens * 5 / 4})
	if err != nil {
		return err
	}
	o := boundary{asks: strategy == "summary", commits: box.Commits}
	run, err := box.Tureen("run", "-P", profile, "-o", "json", prompt).Run(ctx, o.script(readCall(file)))
	if err != nil {
		return err
	}
	result, err := run.Result()
	if err != nil {
		return err
	}
	if len(result.Compacted) != 1 {
		return fmt.Errorf("%d compactions, want one", len(result.Compacted))
	}
	c := result.Compacted[0]
	cost, usual, calls := split(run, o.asks)
	if len(cost) != 1 || calls != c.Calls {
		return fmt.Errorf("%d compactions and %d calls at the endpoint, 1 and %d reported", len(cost), calls, c.Calls)
	}
	at := fmt.Sprintf("tureen.strategy.%s.%d.", strategy, tokens)
	r[at+"cost"], r[at+"told"] = cost[0]-Median(usual), c.Millis
	r[at+"calls"], r[at+"sent"] = float64(c.Calls), float64(o.sent)/4
	r[at+"before"], r[at+"after"] = float64(c.Before), float64(c.After)
	r[at+"prefix"], r[at+"commits"] = float64(o.prefix), float64(o.synced)
	return nil
}

// boundary watches a run for its first compaction.
type boundary struct {
	asks    bool
	commits func() (int, error)

	last   []byte // the last request of the main line
	was    int    // commits when it came
	sent   int    // bytes that the strategy's own calls sent
	prefix int    // bytes that the first request after it has in common with the last one
	synced int    // commits between the two
}

// script answers with a call until a compaction was seen, and a summary to whoever asks
// for one.
func (o *boundary) script(call endpoint.Call) endpoint.Script {
	s := sorter{asks: o.asks}
	return func(x endpoint.Exchange, body []byte) (endpoint.Reply, error) {
		if x.Ordinal > 2000 {
			return endpoint.Reply{}, fmt.Errorf("no compaction in %d requests", x.Ordinal)
		}
		switch s.sort(x) {
		case asked:
			o.sent += len(body)
			return summaryReply, nil
		case compacted:
			now, err := o.commits()
			o.synced, o.prefix = now-o.was, common(o.last, body)
			return endpoint.Done, err
		}
		o.last = bytes.Clone(body)
		var err error
		o.was, err = o.commits()
		return endpoint.Reply{Call: &call}, err
	}
}

// common is the number of bytes that two requests begin with alike.
func common(x, y []byte) int {
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}
