package render

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// Lines writes whole lines to one stream, from any goroutine.
type Lines struct {
	Style
	mu      sync.Mutex
	w       io.Writer
	midline bool // a live piece of text stands on the last line
	asking  bool // a question stands there: what else there is to say is held
	held    []piece
	lost    int // pieces that were too many to hold
}

// piece is a text that is held while a person answers.
type piece struct {
	text string
	live bool
}

// maxHeld is how many pieces are held; of more the oldest are lost.
const maxHeld = 1000

// NewLines makes lines onto w.
func NewLines(w io.Writer, style Style) *Lines { return &Lines{w: w, Style: style} }

// Print writes text as a line of its own. It may hold anybody's text: of what steers a
// terminal only the marks of the style are written. What cannot be written is lost:
// there is nobody left to tell.
func (l *Lines) Print(text string) {
	l.say(piece{text: l.tame(text)})
}

// Live writes a piece of anybody's text that the next one continues.
func (l *Lines) Live(text string) {
	l.say(piece{text: Plain(text), live: true})
}

func (l *Lines) say(p piece) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.asking {
		l.write(p)
		return
	}
	if len(l.held) == maxHeld {
		l.held, l.lost = l.held[1:], l.lost+1
	}
	l.held = append(l.held, p)
}

func (l *Lines) write(p piece) {
	if p.live {
		_, _ = io.WriteString(l.w, l.Faint(p.text))
		l.midline = !strings.HasSuffix(p.text, "\n")
		return
	}
	l.endLive()
	_, _ = io.WriteString(l.w, p.text+"\n")
}

// Ask writes a question, which is the host's own text, and leaves the cursor behind
// it. What else there is to say is held until Answered or Withdrawn.
func (l *Lines) Ask(question string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endLive()
	_, _ = io.WriteString(l.w, question)
	l.midline, l.asking = true, true
}

// Answered tells that the person ended the question's line with Enter.
func (l *Lines) Answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.midline = false
	l.release()
}

// Withdrawn ends a question, if one stands, that nobody answered.
func (l *Lines) Withdrawn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release()
}

// release writes what was held.
func (l *Lines) release() {
	if !l.asking {
		return
	}
	l.asking = false
	if l.lost > 0 {
		l.write(piece{text: fmt.Sprintf("(%d lines are left out here)", l.lost)})
	}
	for _, p := range l.held {
		l.write(p)
	}
	l.held, l.lost = nil, 0
}

func (l *Lines) endLive() {
	if l.midline {
		_, _ = io.WriteString(l.w, "\n")
		l.midline = false
	}
}

// Warning writes a warning and, where there is one, its hint. Both may be anybody's
// text, as with Error and a Logger.
func (l *Lines) Warning(message, hint string) {
	l.Print(l.Yellow("warning: ") + block(message))
	l.hint(hint)
}

// Error writes what went wrong and, where it is known, what to do.
func (l *Lines) Error(message, hint string) {
	l.Print(l.Red("error: ") + block(message))
	l.hint(hint)
}

func (l *Lines) hint(text string) {
	if text != "" {
		l.Print(l.Yellow("hint: ") + block(text))
	}
}

// Logger writes records of at least that level as lines.
func (l *Lines) Logger(level slog.Level) *slog.Logger {
	return slog.New(&logHandler{lines: l, level: level})
}

// logHandler writes "warning: message (key=value, …)".
type logHandler struct {
	lines *Lines
	level slog.Level
	attrs []string
}

func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := append([]string(nil), h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, attr(a))
		return true
	})
	text := r.Message
	if len(attrs) > 0 {
		text += " (" + strings.Join(attrs, ", ") + ")"
	}
	switch {
	case r.Level >= slog.LevelError:
		h.lines.Error(text, "")
	case r.Level >= slog.LevelWarn:
		h.lines.Warning(text, "")
	default:
		h.lines.Print(h.lines.Faint(strings.ToLower(r.Level.String()) + ": " + block(text)))
	}
	return nil
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.attrs = append([]string(nil), h.attrs...)
	for _, a := range attrs {
		next.attrs = append(next.attrs, attr(a))
	}
	return &next
}

// WithGroup leaves the keys as they are: the lines are for people.
func (h *logHandler) WithGroup(string) slog.Handler { return h }

func attr(a slog.Attr) string { return fmt.Sprintf("%s=%v", a.Key, a.Value.Resolve()) }
