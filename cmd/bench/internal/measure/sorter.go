package measure

import (
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

// kind is what a request of a run with compactions is.
type kind int

const (
	stepped   kind = iota // continues the one before it
	compacted             // comes after a compaction: the surface is smaller
	asked                 // is the compaction's own
)

// sorter tells requests apart, in order. Nothing but a compaction makes one smaller
// than the one before it. Where the strategy asks the model, its own request comes
// first: it repeats the beginning of the surface.
type sorter struct {
	asks   bool // the strategy asks the model
	asking bool // it just did
	before int  // bytes of the last request of the main line
}

func (s *sorter) sort(x endpoint.Exchange) kind {
	k := stepped
	switch {
	case s.asking:
		k, s.asking = compacted, false
	case x.Bytes >= s.before:
	case s.asks:
		s.asking = true
		return asked
	default:
		k = compacted
	}
	s.before = x.Bytes
	return k
}

// summaryReply is the answer to a compaction's own request.
var summaryReply = endpoint.Reply{Text: strings.Repeat("what was done so far and what comes next\n", 25)}

// compacting answers with a call until so many compactions were seen, and a
// compaction's own request with a summary. seen, if not nil, looks at the first
// request after each compaction.
func compacting(call endpoint.Call, compactions int, asks bool, seen func(n int, body []byte) error) endpoint.Script {
	n := 0
	s := sorter{asks: asks}
	return func(x endpoint.Exchange, body []byte) (endpoint.Reply, error) {
		if x.Ordinal > 20_000 {
			return endpoint.Reply{}, fmt.Errorf("%d compactions in as many requests, %d are wanted", n, compactions)
		}
		switch s.sort(x) {
		case asked:
			return summaryReply, nil
		case compacted:
			n++
			if seen != nil {
				if err := seen(n, body); err != nil {
					return endpoint.Reply{}, err
				}
			}
		}
		if n == compactions {
			return endpoint.Done, nil
		}
		return endpoint.Reply{Call: &call}, nil
	}
}

// split sorts the steps of a run: the host's time of those with a compaction, of
// those without one, and the number of the compactions' own requests.
func split(run *lab.Run, asks bool) (cost, usual []float64, calls int) {
	s := sorter{asks: asks}
	s.sort(run.Tape[0])
	spent := 0.0
	for i, step := range millis(run.Steps()) {
		spent += step
		switch s.sort(run.Tape[i+1]) {
		case asked:
			calls++
			continue
		case compacted:
			cost = append(cost, spent)
		default:
			usual = append(usual, spent)
		}
		spent = 0
	}
	return cost, usual, calls
}
