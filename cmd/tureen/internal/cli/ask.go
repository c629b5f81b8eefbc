package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
)

// canAsk tells whether a person sits at both ends.
func (a *app) canAsk() bool { return render.IsTerminal(a.in) && render.IsTerminal(os.Stderr) }

// ask puts a question on stderr and returns the line that answers it; the end of
// the input is an empty answer.
func (a *app) ask(ctx context.Context, question string) (string, error) {
	a.lines.Ask(a.lines.Faint(render.Plain(question)))
	line, err := a.keys().line(ctx)
	if err != nil {
		a.lines.Withdrawn()
		return "", err
	}
	a.lines.Answered()
	return line, nil
}

// keys is what the person types.
func (a *app) keys() *keyboard {
	if a.keyboard == nil {
		a.keyboard = newKeyboard(a.in)
	}
	return a.keyboard
}

// agrees asks a question that is answered with yes or no; no is the default.
func (a *app) agrees(ctx context.Context, question string) (bool, error) {
	line, err := a.ask(ctx, question+" [y/N] ")
	line = strings.ToLower(line)
	return line == "y" || line == "yes", err
}

// orDash stands for a cell that would be empty.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// plain quotes a text that could do more than be read.
func plain(s string) string {
	if q := fmt.Sprintf("%q", s); q[1:len(q)-1] != s {
		return q
	}
	return s
}
