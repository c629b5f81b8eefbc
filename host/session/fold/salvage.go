package fold

import (
	"errors"
	"iter"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// Salvaged tells what a salvage came to. Kept, SetAside, Lost and Closed add up to Events.
type Salvaged struct {
	Events   int              `json:"events"`    // of the new log
	Kept     int              `json:"kept"`      // as they were
	Bridged  int              `json:"bridged"`   // written anew to close what the damage left open
	SetAside int              `json:"set_aside"` // read, but could not stand; kept inside event.lost, or mended and among Bridged too
	Lost     int              `json:"lost"`      // could not be read
	Closed   int              `json:"closed"`    // appended, to end what was open where the damage may hold its end
	Damage   []session.Damage `json:"damage"`    // where they were
}

// maxGap bounds a stretch that does not read: what is told to lie further on is not
// believed, and the log ends before it.
const maxGap = 1 << 20

// Salvage makes a log that keeps the rules of what a Salvager yields: each event
// that can stand stays what it is, at its seq; what cannot stand, or did not read,
// becomes an event.lost, or an event that closes what the damage left open. created
// is the payload of the first event; where the first event reads, only ID, Origin and
// Time of created are used. state is the fold of what was yielded; result is complete
// once all was. A compaction that is not whole is set aside whole; a whole one stays
// in force for those of its nodes that are left. What is open at the end is ended where
// something of its turn is missing, since that may have been its end; a log that merely
// breaks off stays open.
func Salvage(events iter.Seq2[session.Event, error], created session.Created) (out iter.Seq2[session.Event, error], state *State, result *Salvaged) {
	state, result = New(), &Salvaged{}
	return func(yield func(session.Event, error) bool) {
		*state, *result = *New(), Salvaged{}
		s := &salvage{checker: &Checker{state: state}, created: created, result: result, next: 1}
		s.yield = func(e session.Event) {
			result.Events++
			s.stopped = s.stopped || !yield(e, nil)
		}
		known := int64(0) // what lies at the end and does not read
		for e, err := range events {
			var damage *session.Damage
			switch {
			case errors.As(err, &damage):
				result.Damage = append(result.Damage, *damage)
				s.what, known, s.tail = damage.What, max(known, damage.To), true
			case err != nil:
				yield(session.Event{}, err)
				return
			case !s.read(e):
				return
			}
		}
		s.finish(known)
	}, state, result
}

// salvage is one at work. Events pass through three stages: gather finds the
// compactions, place finds out what is missing before an event, settle lets stand
// what can.
type salvage struct {
	checker *Checker
	created session.Created
	result  *Salvaged
	yield   func(session.Event)
	stopped bool      // nobody wants more
	next    int64     // seq of the event to come
	what    string    // was found where events are missing
	time    time.Time // of the newest event
	tail    bool      // nothing was read behind the newest damage
	holed   bool      // something is missing since the newest turn began

	compaction gathered
	held       []slot // before what is placed next
	later      []unit // read behind held, to be settled once it is clear what is missing
}

// read takes the next event; false ends the salvage.
func (s *salvage) read(e session.Event) bool {
	switch {
	case e.Seq < s.next: // its place is taken
		s.result.Damage = append(s.result.Damage, session.Damage{From: e.Seq, To: e.Seq, What: "stands there twice"})
		return !s.stopped
	case e.Seq-s.next > maxGap:
		s.result.Damage = append(s.result.Damage, session.Damage{From: s.next, What: "nothing readable follows within reach"})
		s.tail = true
		s.finish(0)
		return false
	}
	s.lose(e.Seq - 1)
	s.next, s.tail = e.Seq+1, false
	if e.Seq == 1 {
		s.first(e)
	} else {
		s.gather(e)
	}
	return !s.stopped
}

// lose has the events up to and including last be missing.
func (s *salvage) lose(last int64) {
	if s.next > last || s.stopped {
		return
	}
	s.tear()
	s.resolve()
	if s.next == 1 {
		s.result.Lost++
		s.result.Bridged++
		s.begin(s.created, session.Event{Time: s.created.Time})
		s.next++
	}
	for ; s.next <= last && !s.stopped; s.next++ {
		s.result.Lost++
		s.hold(slot{seq: s.next, why: s.what})
	}
}

// first begins the log with its old beginning, as far as that reads.
func (s *salvage) first(e session.Event) {
	created, err := session.Decode[session.Created](e)
	if err != nil || e.Kind != session.KindSessionCreated || e.V > session.SchemaVersion {
		s.result.SetAside++
		s.result.Bridged++
		s.begin(s.created, session.Event{Time: s.created.Time})
		return
	}
	created.ID, created.Origin, created.Time = s.created.ID, s.created.Origin, s.created.Time
	s.result.Kept++
	s.begin(created, e)
}

func (s *salvage) begin(created session.Created, like session.Event) {
	e := session.New(session.KindSessionCreated, created)
	e.Seq, e.Time = 1, created.Time
	s.time = like.Time
	_ = s.checker.state.Apply(e) // an empty log takes it
	s.yield(e)
}

func (s *salvage) finish(known int64) {
	if known-s.next < maxGap {
		s.lose(max(known, min(1, s.next)))
	}
	s.tear()
	s.resolve()
	s.flush(nil)
	if s.tail || s.holed {
		s.close()
	}
}

// close ends what is open.
func (s *salvage) close() {
	for _, e := range damaged.open(s.checker.state) {
		e.Seq, e.Time = s.checker.state.Head+1, s.time
		if s.stopped || s.checker.try(e) != nil {
			return
		}
		s.result.Closed++
		s.yield(e)
	}
}
