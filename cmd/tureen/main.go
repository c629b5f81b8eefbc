// Command tureen runs an LLM agent and lets a profile decide what happens when
// its context runs low.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/cli"
)

// grace is how long SIGTERM leaves for a clean end.
const grace = 10 * time.Second

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM) // before anything is started
	go watchSignals(signals, cancel)
	// A reader that went away and a limit of file sizes must not end the process:
	// writes fail instead.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ)
	os.Exit(cli.Main(ctx, os.Args[1:]))
}

// watchSignals cancels at the first signal and leaves at the second, with the
// result of what is under way. Plugins notice the end of this process by themselves.
func watchSignals(signals <-chan os.Signal, cancel context.CancelCauseFunc) {
	first := cli.Signal((<-signals).(syscall.Signal))
	cancel(first)
	if first == cli.Signal(syscall.SIGTERM) {
		time.AfterFunc(grace, func() { os.Exit(cli.Leave(first)) })
	}
	second := cli.Signal((<-signals).(syscall.Signal))
	os.Exit(cli.Leave(second))
}
