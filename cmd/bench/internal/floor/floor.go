// Package floor is the least that an agent can do: a loop that asks the model,
// runs the tool of its answer and appends to the conversation. With commits it is
// the least that a durable agent can do. The bench compares against it.
package floor

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

// Main runs the floor with the arguments of its command line:
//
//	-url URL      base URL of the endpoint
//	-db FILE      a SQLite file to make, where there are commits
//	-commits N    commits a step, each synced to the disk
//	-calls N      gRPC calls a step to another process over a Unix socket
//	-socket FILE  where that process listens
func Main(ctx context.Context, args []string) (err error) {
	var url, db, socket string
	var l loop
	flags := flag.NewFlagSet("floor", flag.ContinueOnError)
	flags.StringVar(&url, "url", "", "base URL")
	flags.StringVar(&db, "db", "", "SQLite file")
	flags.IntVar(&l.commits, "commits", 0, "commits a step")
	flags.IntVar(&l.calls, "calls", 0, "gRPC calls a step")
	flags.StringVar(&socket, "socket", "", "Unix socket of the called process")
	if err := flags.Parse(args); err != nil {
		return err
	}
	l.chat = newConversation(url)
	if l.commits > 0 {
		if l.store, err = openStore(ctx, db); err != nil {
			return err
		}
		defer l.store.close()
	}
	if l.calls > 0 {
		if l.partner, err = startPartner(ctx, socket); err != nil {
			return err
		}
		defer l.partner.close()
	}
	return l.run(ctx)
}

type loop struct {
	chat           *conversation
	store          *store
	partner        *partner
	commits, calls int
}

// run takes steps until an answer has no call.
func (l *loop) run(ctx context.Context) error {
	for {
		a, err := l.chat.ask(ctx)
		if err != nil || a.id == "" {
			return err
		}
		said := l.chat.answer(a)
		for range l.commits - 1 {
			if err := l.store.append(ctx, said); err != nil {
				return err
			}
		}
		for range l.calls {
			if err := l.partner.call(ctx); err != nil {
				return err
			}
		}
		text, err := use(ctx, a)
		if err != nil {
			return err
		}
		result := l.chat.result(a.id, text)
		switch l.commits {
		case 0:
		case 1:
			err = l.store.append(ctx, append(said, result...))
		default:
			err = l.store.append(ctx, result)
		}
		if err != nil {
			return err
		}
	}
}

// use runs the tool that an answer calls.
func use(ctx context.Context, a answer) (string, error) {
	var args struct {
		FilePath string `json:"file_path"`
		Command  string `json:"command"`
	}
	if err := json.Unmarshal([]byte(a.arguments), &args); err != nil {
		return "", fmt.Errorf("floor: arguments of %s: %w", a.tool, err)
	}
	var out []byte
	var err error
	switch a.tool {
	case "read":
		out, err = os.ReadFile(args.FilePath)
	case "shell":
		out, err = exec.CommandContext(ctx, "bash", "-c", args.Command).CombinedOutput()
	default:
		err = fmt.Errorf("floor: there is no tool %q", a.tool)
	}
	if len(out) == 0 {
		out = []byte("(no output)")
	}
	return string(out), err
}
