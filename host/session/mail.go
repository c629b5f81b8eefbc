package session

import (
	"context"
	"errors"
	"time"
)

// ErrNoMail: a batch takes a mail that is not there, or not any more.
var ErrNoMail = errors.New("session: no such mail")

// Command is what a process asks of the owner of a session.
type Command string

const (
	CommandPrompt  Command = "prompt"  // Text for the next turn
	CommandSteer   Command = "steer"   // Text for the next step
	CommandCancel  Command = "cancel"  // end the running step, keep the inbox
	CommandCompact Command = "compact" // compact at the next step boundary; Text = instructions
	CommandAnswer  Command = "answer"  // an open question; Text = an Answer as JSON
	CommandUndo    Command = "undo"    // take the newest compaction back, once nothing runs
	CommandArchive Command = "archive" // Text = an Archived as JSON
)

// Mail is a command left for the owner of a session by another process.
type Mail struct {
	ID      int64     `json:"id"` // given by the store, ascending
	Time    time.Time `json:"time"`
	Command Command   `json:"command"`
	Text    string    `json:"text,omitempty"`
	From    string    `json:"from,omitempty"` // "pid 123 on HOST"
}

// Mailbox is a Store that takes mail for sessions that another process owns.
type Mailbox interface {
	// Post leaves mail and returns when it is durable. It needs no ownership and
	// locks nobody out. ErrNotFound where there is no such session. It gives the
	// ID, and Time and From where they are empty.
	Post(ctx context.Context, id string, m Mail) error
}

// MailLog is a Log whose owner can see its mail. A mail is there until a Batch
// that names it in Taken is appended: it is executed exactly once. A batch that
// takes what is not there is refused whole with ErrNoMail.
type MailLog interface {
	Log
	// Mail returns what waits, oldest first. It is cheap where nothing does, so
	// that an owner may ask several times a second.
	Mail(ctx context.Context) ([]Mail, error)
}

// MailCounter is a Reader that can tell how many mails nobody has taken yet.
type MailCounter interface {
	Reader
	Untaken(ctx context.Context) (int, error)
}
