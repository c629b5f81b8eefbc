package chat

import (
	"context"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Session is what a chat asks of the session that it shows. The methods are called
// from any goroutine, may take their time, and end with ctx. What they lead to comes
// back as events.
type Session interface {
	// Prompt queues text for the next turn, Steer for the next step of this one.
	Prompt(ctx context.Context, text string) error
	Steer(ctx context.Context, text string) error
	// Cancel ends the step under way, and keeps what waits. It tells whether there
	// was one.
	Cancel() bool
	// Compact asks the strategy for a compaction, at the next step boundary.
	Compact(ctx context.Context, instructions string) error
	// Undo asks for the newest compaction to be taken back, once nothing runs.
	Undo(ctx context.Context) error
	// Context says what there is to say of the context besides its meter.
	Context(ctx context.Context) (string, error)
	// Command runs a slash command of a plugin and returns what it says.
	Command(ctx context.Context, name, arguments string) (string, error)
	// Answer answers a question whose asker does not wait any more.
	Answer(ctx context.Context, answer session.Answer) error
	// Access reads the log, the outline and the meter.
	Access() session.Access
	// Notes lists the notes of the session, or prints the one at an address.
	Notes(ctx context.Context, address string) (string, error)
	// Export writes the session to a file, "" for one of its own choice, and returns
	// its name.
	Export(ctx context.Context, file string) (string, error)
	// SetModel closes the session and opens it again with another model. It is called
	// while nothing runs. The error leaves the session open with the old model,
	// unless the session is lost, which the UI is told by Fail.
	SetModel(ctx context.Context, name string) (Facts, error)
}

// Facts are what is known about an open session.
type Facts struct {
	ID, Profile, Strategy string
	Model                 string
	Window                int    // tokens, 0 = unknown
	WindowSource          string // profile | probed | unknown
	Meter                 session.Meter
	Commands              []command.Command
	// Cost prices a usage in USD; nil = the model has no price.
	Cost func(llm.Usage) float64
	// Open are the questions without an answer, oldest first.
	Open []session.Question
	// Past are the newest messages of a session that is resumed, oldest first.
	Past    []session.Event
	Resumed bool
	// Archived tells that the session takes no step.
	Archived bool
}

// Options are what a chat needs besides its session.
type Options struct {
	Style render.Style
	// Nearest finds the name that a word most probably meant, "" for none.
	Nearest func(word string, names []string) string
	// Hint says what to do about a failure of that code, "" for nothing.
	Hint func(code string) string
	// Now is the clock; nil = time.Now.
	Now func() time.Time
}
