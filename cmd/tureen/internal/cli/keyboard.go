package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
)

// keyboard is what a person types, line by line. One at a time may read it.
type keyboard struct {
	in      *bufio.Reader
	file    *os.File // nil where it is none
	lines   chan string
	reading bool // a read is under way, maybe from before
}

func newKeyboard(in io.Reader) *keyboard {
	file, _ := in.(*os.File)
	return &keyboard{in: bufio.NewReader(in), file: file, lines: make(chan string, 1)}
}

// line waits for the next line; the end of the input is an empty one.
func (k *keyboard) line(ctx context.Context) (string, error) {
	if !k.reading {
		k.reading = true
		go func() {
			line, _ := k.in.ReadString('\n')
			k.lines <- strings.TrimSpace(line)
		}()
	}
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case line := <-k.lines:
		k.reading = false
		return line, nil
	}
}

// forget drops what was typed so far: it was not meant for the next question.
func (k *keyboard) forget() {
	if k.file != nil {
		flushInput(int(k.file.Fd()))
	}
	select {
	case <-k.lines:
		k.reading = false
	default:
	}
}
