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
}

// NewLines makes lines onto w.
func NewLines(w io.Writer, style Style) *Lines { return &Lines{w: w, Style: style} }

// Print writes text, which is the host's own, as a line of its own. What cannot be written is lost: there
// is nobody left to tell.
func (l *Lines) Print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endLive()
	_, _ = io.WriteString(l.w, text+"\n")
}

// Live writes a piece of anybody's text that the next one continues.
func (l *Lines) Live(text string) {
	text = Plain(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.w, l.faint(text))
	l.midline = !strings.HasSuffix(text, "\n")
}

// Answered tells that the person ended the live line with Enter.
func (l *Lines) Answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.midline = false
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
		h.lines.Print(h.lines.faint(strings.ToLower(r.Level.String()) + ": " + block(text)))
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
