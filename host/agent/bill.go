package agent

import (
	"errors"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// bill is what the model calls of the strategy's plugin have come to.
type bill struct {
	calls    int
	usage    llm.Usage
	unpriced int // calls that no price is known for: of another model, without usage, or broken off
}

func (b bill) sub(o bill) bill {
	return bill{b.calls - o.calls, b.usage.Sub(o.usage), b.unpriced - o.unpriced}
}

// bills is the bill so far.
func (a *Agent) bills() bill {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.billed
}

// called books a call that begins.
func (a *Agent) called(plugin string) {
	if plugin != a.Strategy.Plugin {
		return
	}
	a.mu.Lock()
	a.billed.calls++
	a.mu.Unlock()
}

// failed books a call that came to nothing. One that the endpoint refused costs
// nothing; what any other has cost is not known.
func (a *Agent) failed(plugin string, err error) {
	var refused *llm.Error
	if plugin != a.Strategy.Plugin || errors.As(err, &refused) && refused.Status >= 400 && refused.Status < 500 {
		return
	}
	a.mu.Lock()
	a.billed.unpriced++
	a.mu.Unlock()
}

// used books what a call that was answered used.
func (a *Agent) used(plugin string, g session.Generate, u llm.Usage) {
	if plugin != a.Strategy.Plugin {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.billed.usage = a.billed.usage.Add(u)
	if u.Total() == 0 || g.Model != "" && g.Model != a.Info.Name {
		a.billed.unpriced++
	}
}

// price is what a bill comes to in USD, nil where that is not known. No call costs 0.
func (a *Agent) price(b bill) *float64 {
	usd := 0.0
	switch {
	case b.calls == 0:
	case a.Limits.Cost == nil || b.unpriced > 0:
		return nil
	default:
		usd = a.Limits.Cost(b.usage)
	}
	return &usd
}
