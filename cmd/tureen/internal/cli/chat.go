package cli

import (
	"context"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/chat"
	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// chatting is the chat under way, which has the terminal; nil where there is none.
var chatting atomic.Pointer[chat.UI]

func (a *app) chatCommand() *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use:   "chat [PROMPT]",
		Short: "Work with the agent in an interactive session",
		Long: `Chat shows what the agent says and does while you type. What you send while it
works is read at its next step; Alt-Enter keeps it for the next turn. Questions
and approvals are answered in place, /help lists the keys and the commands.

It needs a terminal; tureen run is for scripts. The log of the session is written
as in a run: whatever happens to the terminal, tureen chat --resume ID goes on.`,
		Example: `  tureen chat
  tureen chat -P notesoup "what does this repository do?"
  tureen chat --resume last`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.chat(cmd.Context(), id, tool.Clean(strings.Join(args, " ")))
		},
	}
	cmd.Flags().StringVarP(&id, "resume", "r", "", `go on with this session: an id or its beginning, or "last"`)
	return cmd
}

// chat opens the session, shows it until the person leaves, and closes it.
func (a *app) chat(ctx context.Context, id, prompt string) error {
	if !render.IsTerminal(a.in) || !render.IsTerminal(a.out) || a.env("TERM") == "dumb" {
		return usagef(`use tureen run "PROMPT", or tureen resume ID "PROMPT"`, "tureen chat needs a terminal on stdin and stdout, and one that can move its cursor")
	}
	if len(prompt) > maxPrompt {
		return usagef("write it to a file and name the file in the prompt", "the prompt is longer than %d MiB", maxPrompt>>20)
	}
	style, err := render.NewStyle(a.color, a.out, a.env)
	if err != nil {
		return usagef("leave it out to have colours on a terminal only", "%v", err)
	}
	ui := chat.New(chat.Options{Style: style, Nearest: nearest, Hint: hintOf}, a.in.(*os.File), a.out.(*os.File))
	chatting.Store(ui)
	errStyle, _ := render.NewStyle(a.color, os.Stderr, a.env) // checked above
	a.lines = render.NewLines(ui, errStyle)
	c := &chatSession{work: &work{app: a, ui: ui}, ui: ui}
	if c.store, err = a.openStore(); err != nil {
		return err
	}
	defer c.store.Close()
	if id == "" {
		c.host, err = c.create(ctx, chatTitle(prompt))
	} else {
		c.host, err = c.resume(ctx, id)
	}
	if err != nil {
		return err
	}
	return c.show(ctx, id != "", prompt)
}

// chatTitle names a session whose first prompt is still to come.
func chatTitle(prompt string) string {
	if strings.TrimSpace(prompt) == "" {
		return "chat"
	}
	return prompt
}

// show runs the view beside the agent.
func (c *chatSession) show(ctx context.Context, resumed bool, prompt string) error {
	id := c.host.ID()
	facts, err := c.facts(ctx, resumed)
	if err == nil {
		c.serve(ctx)
		err = c.ui.Run(ctx, c, facts, prompt)
	}
	c.settle()
	c.stopServing()
	unused := err == nil && !resumed && c.unused(ctx)
	c.close(ctx)
	switch {
	case unused:
		c.remove(ctx, id)
	default:
		c.kept(id)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return stateFault(id, err)
}

// unused tells whether nothing was ever said in the session.
func (c *chatSession) unused(ctx context.Context) bool {
	if c.host == nil {
		return false
	}
	said := session.Query{Kinds: []session.Kind{session.KindInboxQueued, session.KindCommandRun, session.KindChildSpawned}, Limit: 1}
	for range c.Access().Events(ctx, said) {
		return false
	}
	return true
}

// remove deletes a session in which nothing was said: it would only be in the way.
func (c *chatSession) remove(ctx context.Context, id string) {
	if r, ok := c.store.Store.(session.Remover); ok {
		if err := r.Remove(context.WithoutCancel(ctx), id); err == nil {
			return
		}
	}
	c.kept(id)
}

// kept tells how to go on.
func (c *chatSession) kept(id string) {
	c.lines.Print("\nsession " + id + "\nresume: tureen chat --resume " + id)
}

// facts are what the view is told about the session as it is open now.
func (c *chatSession) facts(ctx context.Context, resumed bool) (chat.Facts, error) {
	h, info := c.host, c.host.Info()
	f := chat.Facts{ID: h.ID(), Profile: c.profile.Name, Strategy: c.profile.Compaction.Strategy, Model: info.Name,
		Window: info.ContextWindow, WindowSource: info.WindowSource, Meter: h.Agent.Meter(), Commands: h.Agent.ListCommands(),
		Open: h.Agent.Questions(), Resumed: resumed, Cost: host.Cost(c.profile)}
	if !resumed {
		return f, nil
	}
	var err error
	if f.Archived, err = c.archived(ctx); err != nil {
		return f, err
	}
	f.Past, err = c.past(ctx)
	return f, err
}

// archived tells whether the session was put away.
func (c *chatSession) archived(ctx context.Context) (bool, error) {
	for e, err := range c.Access().Events(ctx, session.Query{Kinds: []session.Kind{session.KindSessionArchived}, Reverse: true, Limit: 1}) {
		if err != nil {
			return false, stateFault(c.host.ID(), err)
		}
		p, err := session.Decode[session.Archived](e)
		return p.Archived, err
	}
	return false, nil
}

// pastMessages is how many messages of a resumed session are read again.
const pastMessages = 400

// past are the newest messages, oldest first.
func (c *chatSession) past(ctx context.Context) ([]session.Event, error) {
	newest := session.Query{Kinds: []session.Kind{session.KindMessageUser, session.KindMessageAssistant}, Reverse: true, Limit: pastMessages}
	var past []session.Event
	for e, err := range c.Access().Events(ctx, newest) {
		if err != nil {
			return nil, stateFault(c.host.ID(), err)
		}
		past = append([]session.Event{e}, past...)
	}
	return past, nil
}
