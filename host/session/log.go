package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

var (
	// ErrConflict: the head moved; somebody else appended.
	ErrConflict = errors.New("session: the log has moved on")
	// ErrNotFound: no session of that id in the store.
	ErrNotFound = errors.New("session: not found")
	// ErrAmbiguous: several sessions have the prefix.
	ErrAmbiguous = errors.New("session: ambiguous")
	// ErrLocked: another process owns the session; see LockedError.
	ErrLocked = errors.New("session: owned by another process")
	// ErrNewer: the store was written by a newer version.
	ErrNewer = errors.New("session: written by a newer version")
	// ErrDamaged: the storage does not read.
	ErrDamaged = errors.New("session: damaged")
)

// LockedError names the owner of a session. It is ErrLocked.
type LockedError struct {
	ID    string
	Owner string // "pid 123 on HOST", as the owner wrote it
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("session %s is owned by another process (%s)", e.ID, e.Owner)
}
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// Batch is what one append writes, all or nothing.
type Batch struct {
	// Head is the seq that the writer believes to be the last one, 0 for an
	// empty log. Where it is not, Append writes nothing and answers ErrConflict.
	Head   int64
	Events []Event
	// Snapshot, where not nil, is stored in the same transaction; a log keeps
	// only its newest. Its format is the fold's own.
	Snapshot []byte
	// Taken are mails that this append executes: they are gone with it, see MailLog.
	Taken []int64
}

// Query selects events. The zero value selects all, oldest first.
//
// Text asks for what may hold it: a store that keeps an index leaves out what certainly
// says (see Texts) nothing of the kind, in whatever case; any other selects as if there
// were none. So whoever asks has to look himself at what comes.
type Query struct {
	After   int64  `json:"after,omitempty"`  // seq > After
	Before  int64  `json:"before,omitempty"` // seq < Before; 0 = no bound
	Kinds   []Kind `json:"kinds,omitempty"`  // empty = all
	Limit   int    `json:"limit,omitempty"`  // 0 = no bound
	Reverse bool   `json:"reverse,omitempty"`
	Text    string `json:"text,omitempty"` // "" = no such bound
}

// Reader reads a log. It is safe for concurrent use, also beside the writer.
type Reader interface {
	ID() string
	// Head is the last seq, 0 for an empty log.
	Head(ctx context.Context) (int64, error)
	// Read yields the selected events. An error is yielded last.
	Read(ctx context.Context, q Query) iter.Seq2[Event, error]
	// Snapshot returns the newest snapshot and the head it was stored with;
	// nil where there is none.
	Snapshot(ctx context.Context) ([]byte, int64, error)
	Close() error
}

// Log is a log with its only writer. Append returns when the events are durable
// and the seq of the last one; it sets Seq, and Time where it is zero.
type Log interface {
	Reader
	Append(ctx context.Context, b Batch) (int64, error)
}

// Summary is a session's row in the catalogue.
type Summary struct {
	ID string `json:"id"`
	// Status is the last turn's reason; running while a turn is open, idle before
	// the first one ended, damaged or newer where the session cannot be read.
	Status    string    `json:"status"`
	Title     string    `json:"title"`
	Profile   string    `json:"profile"`
	Strategy  string    `json:"strategy"`
	Workspace string    `json:"workspace"`
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Events    int64     `json:"events"`
	Turns     int       `json:"turns"`
	Bytes     int64     `json:"bytes"`
	Parent    string    `json:"parent,omitempty"` // of a subagent: the session that spawned it
	Archived  bool      `json:"archived,omitempty"`
	Origin    *Origin   `json:"origin,omitempty"` // what its log was made from
}

// Store keeps sessions. It is safe for concurrent use by several processes.
type Store interface {
	// Create makes a session and takes it; created.ID is its id, unused so far.
	// The log's first event is session.created.
	Create(ctx context.Context, created Created) (Log, error)
	// Open takes a session for writing; ErrLocked where another process has it.
	Open(ctx context.Context, id string) (Log, error)
	// View opens a session for reading only; nobody is locked out.
	View(ctx context.Context, id string) (Reader, error)
	// List returns the sessions, newest first. It survives damaged sessions:
	// such a one is listed with Status "damaged".
	List(ctx context.Context) ([]Summary, error)
	// Resolve finds the one session whose id starts with prefix; an error names
	// the candidates where there are several. "last" is the newest that is
	// neither a subagent's nor archived.
	Resolve(ctx context.Context, prefix string) (string, error)
	Close() error
}
