package cli

import (
	"context"
	"io"
	"strings"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/tool"
)

const noPrompt = `give one: tureen run "PROMPT", or pipe it in`

// maxPrompt is the most bytes of a prompt: it must fit a message to a plugin, and
// no window that is offered anywhere holds more.
const maxPrompt = 3 << 20

// prompt is the person's text: the arguments, or stdin where they are "-" or
// none and something is piped in. It is valid UTF-8 without NUL.
func (a *app) prompt(ctx context.Context, args []string) (string, error) {
	text := strings.Join(args, " ")
	if text == "-" || len(args) == 0 && !render.IsTerminal(a.in) {
		var err error
		if text, err = a.readInput(ctx); err != nil {
			return "", err
		}
	}
	if text = tool.Clean(text); strings.TrimSpace(text) == "" {
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
		text, err := io.ReadAll(io.LimitReader(a.in, maxPrompt+1))
		read <- input{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case in := <-read:
		if in.err != nil {
			return "", usagef(noPrompt, "the prompt cannot be read from stdin: %v", cause(in.err))
		}
		if len(in.text) > maxPrompt {
			return "", usagef("write it to a file of the working directory and name the file in the prompt", "the prompt is longer than %d MiB", maxPrompt>>20)
		}
		return string(in.text), nil
	}
}
