package search

import "time"

// SetDeadline gives a search another time limit.
func (p *Provider) SetDeadline(d time.Duration) { p.deadline = d }
