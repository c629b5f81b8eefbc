package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Formats of what a run prints on stdout.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatStream = "stream-json"
)

// resultFormat marks the flag of a verb that ends with a result.
const resultFormat = "tureen_result_format"

func formatFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVarP(to, "output", "o", formatText, "what stdout gets: text (the answer), json (one object), stream-json (one line an event)")
	_ = cmd.Flags().SetAnnotation("output", resultFormat, []string{"true"})
}

// formatOf finds the output format in a command line that may not parse, so that
// a program which reads the output hears of the mistake as well.
func formatOf(args []string) string {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	format := flags.StringP("output", "o", formatText, "")
	_ = flags.Parse(args)
	return *format
}

// report follows one run: it counts, tells the person on stderr and the program
// on stdout. It is the run's agent.Observer. Until started, events are held back.
type report struct {
	format   string
	out      io.Writer
	lines    *render.Lines
	tally    *host.Tally
	stream   *render.Stream   // nil unless the format is stream-json
	progress *render.Progress // nil where stderr gets errors only

	mu      sync.Mutex
	started bool
	held    []heldEvent
	opened  session.Opened
	meter   session.Meter
	refused *session.CompactionFailed // the newest
	session string                    // the id of the session that was taken, "" before
	exit    *int                      // once the result is printed
}

type heldEvent struct {
	event session.Event
	meter session.Meter
}

func (a *app) newReport(format string) (*report, error) {
	r := &report{format: format, out: a.out, lines: a.lines, tally: host.NewTally()}
	switch format {
	case formatText, formatJSON:
	case formatStream:
		r.stream = render.NewStream(render.JSONFor(a.out))
	default:
		return nil, usagef("use text, json or stream-json", "--output %q is no format", format)
	}
	if !a.quiet {
		r.progress = render.NewProgress(a.lines)
		r.progress.Verbose = a.verbose
		r.progress.Live = a.verbose && render.IsTerminal(a.out)
	}
	return r, nil
}

// Event implements agent.Observer.
func (r *report) Event(e session.Event, m session.Meter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.Event(e)
	r.meter = m
	switch e.Kind {
	case session.KindSessionOpened:
		r.opened, _ = session.Decode[session.Opened](e)
	case session.KindCompactionFailed:
		if p, err := session.Decode[session.CompactionFailed](e); err == nil {
			r.refused = &p
		}
	}
	if !r.started {
		r.held = append(r.held, heldEvent{e, m})
		return
	}
	r.show(e, m)
}

func (r *report) show(e session.Event, m session.Meter) {
	if r.stream != nil {
		r.stream.Event(e, m)
	}
	if r.progress != nil {
		r.progress.Event(e, m)
	}
}

// Delta implements agent.Observer.
func (r *report) Delta(kind llm.BlockKind, text string) {
	if r.progress != nil {
		r.progress.Delta(kind, text)
	}
}

// Progress implements agent.Observer.
func (r *report) Progress(source, text string) {
	if r.progress != nil {
		r.progress.Progress(source, text)
	}
}

// start announces the open session, then what happened while it was opened.
func (r *report) start(h *host.Host, strategy, profile string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	info := h.Info()
	s := render.SessionStarted{
		Session: h.ID(), Resumed: r.opened.Resumed, Profile: profile, Strategy: strategy, Workspace: h.Workspace,
		Provider: info.Provider, Model: info.Name, ContextWindow: info.ContextWindow, WindowSource: info.WindowSource,
		ResetAt: r.meter.ResetAt, Plugins: append([]string{}, r.opened.Plugins...), Version: Version,
	}
	if r.stream != nil {
		r.stream.Start(s)
	}
	if r.progress != nil {
		r.progress.Start(s)
	}
	r.started = true
	for _, held := range r.held {
		r.show(held.event, held.meter)
	}
	r.held = nil
}

// idle tells whether no turn was taken.
func (r *report) idle() bool { return r.tally.Result().Turns == 0 }

// failedCompaction is the newest compaction that did not come about, nil for none.
func (r *report) failedCompaction() *session.CompactionFailed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// take notes which session the run is in: the first; those after it are subagents'.
func (r *report) take(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == "" {
		r.session = id
	}
}

// end prints the result and returns the exit code. f is nil where the run came
// to its own end with the status that the tally has.
func (r *report) end(ctx context.Context, f *fault) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.finish(f, context.Cause(ctx))
}

// finish prints the result once. The caller holds the lock.
func (r *report) finish(f *fault, cancelled error) int {
	if r.exit == nil {
		code := r.conclude(f, cancelled)
		r.exit = &code
	}
	return *r.exit
}

func (r *report) conclude(f *fault, cancelled error) int {
	result := r.tally.Result()
	result.Session = r.session
	settle(&result, f, cancelled)
	r.lines.Withdrawn()
	if result.Error != nil {
		r.lines.Error(result.Error.Message, result.Error.Hint)
	}
	if next := nextCommand(result); next != "" {
		r.lines.Print(next)
	}
	if err := outputError(r.print(result)); err != nil {
		e := faultOf(err)
		if result.ExitCode == exitCompleted {
			e.Hint += "; the answer is kept: tureen session export --format md " + result.Session
		}
		r.lines.Error(e.Message, e.Hint)
		return max(result.ExitCode, e.exit)
	}
	return result.ExitCode
}

// nextCommand is how to go on with a session that did not complete.
func nextCommand(r host.Result) string {
	switch {
	case r.ExitCode == exitCompleted || r.Session == "":
		return ""
	case r.Error != nil && r.Error.Code == agent.CodeArchived:
		return "" // its hint says it
	case r.Error != nil && r.Error.Code == codeDamaged:
		return "rescue: tureen session salvage " + r.Session
	}
	return "resume: tureen resume " + r.Session + " " + goingOn(r.Error)
}

// goingOn is what to give resume: --continue goes on only with a turn that did not
// complete.
func goingOn(e *session.Failure) string {
	switch {
	case e != nil && e.Code == host.CodeApprovalUnavailable:
		return `"Try again what was refused: you can ask me now."`
	case e != nil && e.Code == agent.CodeUnfinished:
		return `"/goal resume"`
	}
	return "--continue"
}

// settle gives the result its status, exit code and error.
func settle(r *host.Result, f *fault, cancelled error) {
	switch reason := session.Reason(r.Status); {
	case f != nil:
		r.ExitCode, r.Status, r.Error = f.exit, string(session.ReasonError), &f.Failure
		if f.Code == codeCancelled {
			r.Status, r.Error = string(session.ReasonCancelled), nil
		}
	case reason == "": // no turn was owed
		r.Status = string(session.ReasonCompleted)
	case r.Error != nil && r.Error.Code == host.CodeApprovalUnavailable:
		r.ExitCode = exitUnapproved
	case r.Error != nil && r.Error.Code == agent.CodeUnfinished:
		r.ExitCode = exitUnfinished
	case r.Error != nil && reason == session.ReasonError:
		r.ExitCode = exitOfCode(r.Error.Code)
	case reason == session.ReasonCancelled:
		r.ExitCode = exitOfReason(reason) // by another process
		if cancelled != nil {
			r.ExitCode = faultOf(cancelled).exit
		}
	default:
		r.ExitCode = exitOfReason(reason)
	}
	if r.Error != nil && r.Error.Hint == "" {
		hinted := *r.Error
		if hinted.Hint = hintOf(hinted.Code); hinted.Hint == "" { // the message may hold both
			hinted.Message, hinted.Hint = advice(hinted.Message)
		}
		r.Error = &hinted
	}
	if r.Status == string(session.ReasonMaxTokens) && r.Error == nil {
		r.Error = &session.Failure{Code: "MAX_TOKENS", Message: "the answer was cut off at the output limit", Hint: "raise it: -c model.max_output_tokens=N, then resume the session"}
	}
}

func exitOfReason(reason session.Reason) int {
	for _, row := range exitCodes {
		if row.status == reason {
			return row.code
		}
	}
	return exitUnexpected
}

func (r *report) print(result host.Result) error {
	switch r.format {
	case formatJSON:
		enc := json.NewEncoder(render.JSONFor(r.out))
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(result)
	case formatStream:
		return r.stream.End(result)
	}
	// What an agent said on the way to a failure is no answer.
	answered := slices.Contains([]int{exitCompleted, exitUnfinished, exitMaxTokens, exitUnapproved}, result.ExitCode)
	if result.Text == "" || !answered {
		return nil
	}
	_, err := fmt.Fprintln(r.out, render.PlainFor(r.out, strings.TrimSuffix(result.Text, "\n")))
	return err
}

// failRun ends a run that did not get as far as a report of its own.
func (a *app) failRun(format string, err error) int {
	r, bad := a.newReport(format)
	if bad != nil {
		r, _ = a.newReport(formatText)
	}
	return r.end(context.Background(), faultOf(err))
}
