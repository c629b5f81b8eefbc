package cli

import (
	"context"
	"io"
	"strings"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
)

const noPrompt = `give one: tureen run "PROMPT", or pipe it in`

// prompt is the person's text: the arguments, or stdin where they are "-" or
// none and something is piped in.
func (a *app) prompt(ctx context.Context, args []string) (string, error) {
	text := strings.Join(args, " ")
	if text == "-" || len(args) == 0 && !render.IsTerminal(a.in) {
		var err error
		if text, err = a.readInput(ctx); err != nil {
			return "", err
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef(noPrompt, "the prompt is empty")
	}
	return text, nil
}

// readInput reads stdin to its end, or until ctx ends.
func (a *app) readInput(ctx context.Context) (string, error) {
	type input struct {
		text []byte
		err  error
	}
	read := make(chan input, 1)
	go func() {
		text, err := io.ReadAll(a.in)
		read <- input{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case in := <-read:
		if in.err != nil {
			return "", usagef(noPrompt, "the prompt cannot be read from stdin: %v", cause(in.err))
		}
		return string(in.text), nil
	}
}
