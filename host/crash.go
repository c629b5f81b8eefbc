package host

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/tureen-host/tureen/host/session"
)

// crashVariable has this process kill itself, as kill -9 would, at an append to
// the log. Between two appends nothing is durable, so the appends are all the
// places where a crash makes a difference. It is meant for tests and read once,
// when an engine starts:
//
//	append:N:WHEN      the N-th append of this process, from 1
//	kind:KIND:N:WHEN   the append that holds the N-th event of a kind
//
// WHEN is before (nothing of the append is stored), during (all or nothing is) or
// after (all is stored, nobody was told).
const crashVariable = "TUREEN_CRASH_AT"

// crashPoint is an append at which this process ends; nil is none.
type crashPoint struct {
	kind session.Kind // "" counts appends
	when string

	mu   sync.Mutex
	left int // appends or events until then
}

func findCrashPoint(env func(string) string) (*crashPoint, error) {
	text := env(crashVariable)
	if text == "" {
		return nil, nil
	}
	bad := fmt.Errorf("%s is %q; write append:N:WHEN or kind:KIND:N:WHEN with before, during or after, or unset it", crashVariable, text)
	parts := strings.Split(text, ":")
	p := &crashPoint{}
	switch {
	case parts[0] == "append" && len(parts) == 3:
		parts = parts[1:]
	case parts[0] == "kind" && len(parts) == 4 && parts[1] != "":
		p.kind, parts = session.Kind(parts[1]), parts[2:]
	default:
		return nil, bad
	}
	var err error
	if p.left, err = strconv.Atoi(parts[0]); err != nil || p.left < 1 {
		return nil, bad
	}
	if p.when = parts[1]; p.when != "before" && p.when != "during" && p.when != "after" {
		return nil, bad
	}
	return p, nil
}

// guard returns the log that reaches the crash point, or log itself where there
// is none.
func (p *crashPoint) guard(log session.Log) session.Log {
	if p == nil {
		return log
	}
	crashing := &crashLog{Log: log, point: p}
	if mail, ok := log.(session.MailLog); ok {
		return &crashMailLog{crashing, mail}
	}
	return crashing
}

// reached counts an append and tells whether it is the one.
func (p *crashPoint) reached(b session.Batch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left <= 0 {
		return false
	}
	if p.kind == "" {
		p.left--
	}
	for _, e := range b.Events {
		if p.kind != "" && e.Kind == p.kind {
			p.left--
		}
	}
	return p.left <= 0
}

// crashLog is a log whose owner ends at a crash point.
type crashLog struct {
	session.Log
	point *crashPoint
}

func (l *crashLog) Append(ctx context.Context, b session.Batch) (int64, error) {
	if !l.point.reached(b) {
		return l.Log.Append(ctx, b)
	}
	switch l.point.when {
	case "before":
		die()
	case "during":
		go die()
	}
	_, _ = l.Log.Append(ctx, b) // nobody is told
	die()
	return 0, nil
}

// crashMailLog keeps the mail of the log in view.
type crashMailLog struct {
	*crashLog
	mail session.MailLog
}

func (l *crashMailLog) Mail(ctx context.Context) ([]session.Mail, error) { return l.mail.Mail(ctx) }

// die ends this process at once and does not return.
func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}
