package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host/llm/scripted"
)

func (a *app) modelCommand() *cobra.Command {
	return group("model", "A scripted model for tests and demonstrations", "", a.modelServeCommand())
}

func (a *app) modelServeCommand() *cobra.Command {
	var o scripted.Options
	var script string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the scripted model on loopback",
		Long: `Serve answers Chat Completions on loopback without a key and without a network.
It plays the replies of a script, or follows rules that know only what stands in
the request. It prints its base URL and serves until Ctrl-C.`,
		Example: `  tureen model serve --addr 127.0.0.1:8080 --window 32000
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 tureen run -P notesoup \
    'Read every file in logs in order and report each line that starts with "Finding:"'
  tureen model serve --script replies.json`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if script != "" {
				s, err := scripted.LoadScript(script)
				if err != nil {
					message, hint := advice(err.Error())
					return usagef(hint, "%s", message)
				}
				o.Agent = s
			}
			return a.serveModel(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Addr, "addr", "127.0.0.1:0", "loopback address to listen on; port 0 is a free one")
	f.StringVar(&o.Model, "name", "scripted-rules", "the model's name")
	f.IntVar(&o.ContextWindow, "window", 32000, "context window in tokens")
	f.IntVar(&o.MaxOutputTokens, "max-output", 8192, "most tokens of an answer")
	f.StringVar(&script, "script", "", "play the replies of this file instead of following rules")
	return cmd
}

// serveModel serves until a signal comes, which is its good end.
func (a *app) serveModel(ctx context.Context, o scripted.Options) error {
	server, err := scripted.Serve(ctx, o)
	if err != nil {
		message, hint := advice(err.Error())
		return usagef(hint, "%s", message)
	}
	if _, err := fmt.Fprintln(a.out, server.BaseURL()); err != nil {
		return outputError(err)
	}
	<-ctx.Done()
	return server.Close()
}
