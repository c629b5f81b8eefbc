package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/chat"
	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/builtin"
)

// closing bounds the end of a run, whatever hangs; hurried that of one which a
// signal ended, so that it comes well before the signal's grace is over.
const (
	closing = 20 * time.Second
	hurried = 5 * time.Second
)

// work is one run of a session, from opening it to its result.
type work struct {
	*app
	report  *report  // nil in a chat
	ui      *chat.UI // nil but in a chat
	store   *store
	profile *profile.Profile
}

// job is what a verb does in a session: open takes it, do works in it. An open
// that returns no host has done all there was to do.
type job struct {
	open func(ctx context.Context, w *work) (*host.Host, error)
	do   func(ctx context.Context, w *work, h *host.Host) error
}

// work runs a job and prints how it ended, on every path.
func (a *app) work(ctx context.Context, format string, j job) error {
	r, err := a.newReport(format)
	if err != nil {
		return err
	}
	running.Store(r)
	w := &work{app: a, report: r}
	var f *fault
	if err := w.run(ctx, j); err != nil {
		f = faultOf(err)
		if cause := context.Cause(ctx); cause != nil && f.exit != exitState {
			f = faultOf(cause) // whatever a cancel broke
		}
	}
	if code := r.end(ctx, f); code != exitCompleted {
		return silentExit(code)
	}
	return nil
}

// run opens the session, works and closes. The session is closed before the
// result is printed.
func (w *work) run(ctx context.Context, j job) (err error) {
	if w.store, err = w.openStore(); err != nil {
		return err
	}
	defer w.store.Close()
	w.store.took = w.report.take
	h, err := j.open(ctx, w)
	if err != nil || h == nil {
		return err
	}
	defer func() {
		limit := closing
		if ctx.Err() != nil {
			limit = hurried
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		if err := h.Close(ctx); err != nil {
			w.logger().Warn("the run did not close in good order", "error", err)
		}
	}()
	w.report.start(h, w.profile.Compaction.Strategy, w.profile.Name)
	return j.do(ctx, w, h)
}

// config is what the host is given. It takes the profile as the one in use.
func (w *work) config(ctx context.Context, p *profile.Profile, workspace string) (host.Config, error) {
	w.profile = p
	if err := w.trusted(ctx, p); err != nil {
		return host.Config{}, err
	}
	if _, err := checkedPlugins(p); err != nil {
		return host.Config{}, err
	}
	notes, err := w.notesHome(p)
	cfg := host.Config{
		Profile: p, Store: w.store, Workspace: workspace, NotesHome: notes, Version: Version,
		Observer: w.report, Asker: w.asker(), Logger: w.logger(), Env: w.env,
	}
	if w.ui != nil {
		cfg.Observer, cfg.Asker = w.ui, w.ui
	}
	return cfg, err
}

// workspace is the working directory, absolute and real.
func (w *work) workspace() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return host.WorkspacePath(dir)
}

// turns queues the prompt, if there is one, and takes turns until nothing is
// owed. How they ended is in the log.
func (w *work) turns(ctx context.Context, h *host.Host, prompt string) error {
	if prompt != "" {
		if err := w.say(ctx, h, prompt); err != nil {
			return err
		}
	}
	reason, failure, err := h.Agent.Run(ctx)
	if err == nil && (reason == session.ReasonCancelled || reason == session.ReasonLimit || failure != nil && reason == session.ReasonCompleted) {
		w.report.tally.Ended(reason, failure)
	}
	return stateFault(h.ID(), err)
}

// say hands over what a person typed: a prompt, or a slash command of a plugin
// whose answer is printed (P6).
func (w *work) say(ctx context.Context, h *host.Host, text string) error {
	name, arguments, isCommand := command.Parse(text)
	if isCommand {
		reply, err := h.Agent.Command(ctx, name, arguments)
		switch {
		case err == nil:
			return w.replied(h, reply)
		case errors.Is(err, agent.ErrNoCommand):
			return faultf(exitUsage, "UNKNOWN_COMMAND", "there are "+commandsOf(h)+"; where it is meant for the model begin with another word", "no plugin of this profile offers the command /%s", name)
		default:
			return faultf(exitUsage, "COMMAND", "put it right and give it again: tureen resume "+h.ID()+" \"/"+name+" …\"", "/%s: %s", name, strings.TrimPrefix(err.Error(), "/"+name+": "))
		}
	}
	return stateFault(h.ID(), h.Agent.Prompt(ctx, text))
}

// commandsOf names the slash commands that there are.
func commandsOf(h *host.Host) string {
	var names []string
	for _, c := range h.Agent.ListCommands() {
		names = append(names, "/"+c.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

// replied prints what a slash command answered: on stdout where that is all there
// is, beside the other lines where a turn follows.
func (w *work) replied(h *host.Host, reply string) error {
	switch {
	case reply == "":
	case w.report.format != formatText:
		if !h.Agent.Owed() {
			w.report.tally.Replied(reply)
		}
	case !h.Agent.Owed():
		if _, err := fmt.Fprintln(w.out, render.Plain(reply)); err != nil {
			return outputError(err)
		}
	case !w.quiet:
		w.lines.Print(reply)
	}
	return nil
}

// resume takes a session that exists.
func (w *work) resume(ctx context.Context, prefix string) (*host.Host, error) {
	id, err := w.store.Resolve(ctx, prefix)
	if err != nil {
		return nil, err
	}
	created, err := w.store.created(ctx, id)
	if err != nil {
		return nil, err
	}
	p, err := w.sessionProfile(created.Profile, created.Workspace, created.Strategy)
	if err != nil {
		return nil, err
	}
	cfg, err := w.config(ctx, p, created.Workspace)
	if err != nil {
		return nil, err
	}
	return host.Resume(ctx, cfg, id)
}

// sessionProfile is the profile for a session that exists: that of its creation,
// found from its own working directory, with the strategy that it was created
// with ("" = whichever), unless the command line says otherwise.
func (a *app) sessionProfile(name, workspace, strategy string) (*profile.Profile, error) {
	if a.profile != "" {
		return a.loadProfile(a.profile, "")
	}
	if _, err := os.Stat(workspace); err != nil || a.dir != "" {
		workspace = ""
	}
	p, err := a.readProfile(name, workspace)
	if err == nil && strategy != "" && strategy != p.Compaction.Strategy && p.Origin("compaction.strategy").Source != "-c" {
		if err := standing(strategy); err != nil {
			return nil, err
		}
		p, err = a.readProfile(name, workspace, profile.Flag{Name: "the session's own strategy", Key: "compaction.strategy", Value: strategy})
	}
	if err == nil {
		a.warnOf(p)
	}
	return p, err
}

// standing tells whether a session's strategy is still there.
func standing(strategy string) error {
	why := ""
	switch {
	case strategy == host.StrategyNone:
	case isPluginPath(strategy):
		if _, err := os.Stat(strategy); errors.Is(err, fs.ErrNotExist) {
			why = "there is no such file any more"
		}
	default:
		if _, err := builtin.Lookup(strategy, Version); err != nil {
			why = "this version does not ship it"
		}
	}
	if why == "" {
		return nil
	}
	return faultf(exitPlugin, "STRATEGY_MISSING", "bring it back, or go on with another: -c compaction.strategy=NAME",
		"the session runs with strategy %s, and %s", plain(strategy), why)
}
