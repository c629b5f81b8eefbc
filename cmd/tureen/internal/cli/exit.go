package cli

import (
	"fmt"
	"io"
	"syscall"
	"text/tabwriter"

	"github.com/tureen-host/tureen/host/session"
)

// Exit codes. They are the same in every output format.
const (
	exitCompleted  = 0
	exitUnexpected = 1
	exitUsage      = 2
	exitUnfinished = 3
	exitLimit      = 4
	exitUnapproved = 5
	exitContext    = 6
	exitPlugin     = 7
	exitProvider   = 8
	exitState      = 9
	exitMaxTokens  = 10
	exitBlocked    = 11
)

// exitCodes is what `tureen help exit-codes` prints.
var exitCodes = []struct {
	code    int
	status  session.Reason
	meaning string
}{
	{exitCompleted, session.ReasonCompleted, "finished"},
	{exitUnexpected, session.ReasonError, "an error that has no row of its own"},
	{exitUsage, session.ReasonError, "the command line or the profile is wrong: nothing was started"},
	{exitUnfinished, session.ReasonCompleted, "finished, but a goal of this run was not reached: it is blocked, paused or failed"},
	{exitLimit, session.ReasonLimit, "a limit was reached: steps, turns, tokens, cost or time"},
	{exitUnapproved, session.ReasonCompleted, "finished, but calls were refused because nobody was there to approve them"},
	{exitContext, session.ReasonError, "the context cannot be made to fit the model's window"},
	{exitPlugin, session.ReasonError, "a plugin failed: missing, incompatible, crashed or a bad reply"},
	{exitProvider, session.ReasonError, "the model's endpoint failed, after the retries"},
	{exitState, session.ReasonError, "the session or note is not found, locked or damaged, the log cannot be written, or a compaction cannot be undone"},
	{exitMaxTokens, session.ReasonMaxTokens, "the last answer was cut off at model.max_output_tokens"},
	{exitBlocked, session.ReasonBlocked, "a plugin stopped the turn: it refused the input, or guards found a loop or an announcement without a deed; or the session is archived"},
	{Signal(syscall.SIGINT).ExitCode(), session.ReasonCancelled, "cancelled by Ctrl-C (SIGINT), or by another process"},
	{Signal(syscall.SIGTERM).ExitCode(), session.ReasonCancelled, "cancelled by SIGTERM"},
}

func writeExitCodes(w io.Writer) {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "CODE\tSTATUS\tMEANING")
	for _, row := range exitCodes {
		fmt.Fprintf(tab, "%d\t%s\t%s\n", row.code, row.status, row.meaning)
	}
	tab.Flush()
}

// Signal is a signal as the cause of a cancel.
type Signal syscall.Signal

func (s Signal) Error() string { return "cancelled by " + syscall.Signal(s).String() }

// ExitCode is the code of a process that the signal ended.
func (s Signal) ExitCode() int { return 128 + int(s) }

// silentExit ends the program with a code; everything is said already.
type silentExit int

func (e silentExit) Error() string { return fmt.Sprintf("exit %d", int(e)) }
