package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/builtin"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// fault is an error as the program ends with it: an exit code, what happened and
// what to do.
type fault struct {
	exit int
	session.Failure
	err error // what it was made of, nil where it is the program's own
}

func (f *fault) Error() string { return f.Message }
func (f *fault) Unwrap() error { return f.err }

func faultf(exit int, code, hint, format string, args ...any) *fault {
	return &fault{exit: exit, Failure: session.Failure{Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)}}
}

// codeCancelled is the code of what a person or the system ended.
const codeCancelled = "CANCELLED"

// usagef is a mistake on the command line.
func usagef(hint, format string, args ...any) *fault {
	return faultf(exitUsage, "USAGE", hint, format, args...)
}

// faultOf puts any error into that form. Errors that say after a semicolon what
// to do are cut there.
func faultOf(err error) *fault {
	var own *fault
	if errors.As(err, &own) {
		return own
	}
	for _, known := range []func(error) *fault{signalFault, profileFault, pluginFault, modelFault, storageFault} {
		if f := known(err); f != nil {
			return f
		}
	}
	message, hint := advice(err.Error())
	return faultf(exitUnexpected, "ERROR", hint, "%s", message)
}

func signalFault(err error) *fault {
	var signal Signal
	switch {
	case errors.As(err, &signal):
		return faultf(signal.ExitCode(), codeCancelled, "", "%s", signal)
	case errors.Is(err, context.Canceled):
		return faultf(exitUnexpected, codeCancelled, "", "cancelled")
	}
	return nil
}

func profileFault(err error) *fault {
	var missing *profile.NotFoundError
	var problems *profile.Errors
	var problem profile.Problem
	var budget *compaction.ConfigError
	switch {
	case errors.As(err, &missing):
		message, _, _ := strings.Cut(missing.Error(), "; ")
		hint := "tureen profile list shows which there are"
		if missing.Nearest != "" {
			hint = fmt.Sprintf("did you mean %q? ", missing.Nearest) + hint
		}
		return faultf(exitUsage, "PROFILE_NOT_FOUND", hint, "%s", message)
	case errors.As(err, &problems):
		if len(problems.Problems) > 1 {
			return faultf(exitUsage, "PROFILE", mendProfile, "%s", problems)
		}
		return problemFault(problems.Problems[0])
	case errors.As(err, &problem):
		return problemFault(problem)
	case errors.As(err, &budget):
		return faultf(exitUsage, budget.Code, "change "+strings.Join(budget.Change, " or "), "%s", budget.Reason)
	}
	return nil
}

const mendProfile = "mend the profile, or override a key with -c key=value"

func problemFault(p profile.Problem) *fault {
	hint := p.Hint
	if p.Hint = ""; hint == "" {
		hint = mendProfile
	}
	return faultf(exitUsage, "PROFILE", hint, "%s", p)
}

func pluginFault(err error) *fault {
	var config *pluginhost.ConfigError
	var start *pluginhost.StartError
	var failed *sdk.Error
	switch {
	case errors.As(err, &config):
		name := config.Plugin
		if _, err := builtin.Lookup(name, Version); err != nil {
			name = "PATH"
		}
		return faultf(exitUsage, sdk.CodeConfigInvalid, "tureen plugin inspect "+name+" shows what it takes", "plugin %q: %s", config.Plugin, config)
	case errors.As(err, &start) && errors.As(err, &failed) && failed.Code == sdk.CodeConfigInvalid: // the plugin looked at more than its schema says
		return faultf(exitUsage, failed.Code, "change that key; tureen plugin inspect NAME shows what a plugin takes", "%s: %s", start.Plugin, ofPlugin.ReplaceAllString(failed.Message, ""))
	case errors.As(err, &start):
		bare := *start
		bare.Hint = ""
		return faultf(exitPlugin, "PLUGIN_START", cmp.Or(start.Hint, hintOf("PLUGIN_START")), "%s", &bare)
	case errors.Is(err, sdk.ErrExited):
		message, hint := advice(err.Error())
		return faultf(exitPlugin, "PLUGIN_EXITED", hint, "%s", message)
	case errors.As(err, &failed):
		message, hint := advice(err.Error())
		exit := exitPlugin
		if failed.Code == compaction.CodeBudgetConfig || failed.Code == sdk.CodeConfigInvalid {
			exit = exitUsage // the plugin answered for the profile
			message = strings.Replace(message, failed.Code+": ", "", 1)
		}
		return faultf(exit, failed.Code, hint, "%s", message)
	}
	return nil
}

// ofPlugin is what a plugin says before a word on its config, though it was named.
var ofPlugin = regexp.MustCompile(`^config of plugin "[^"]*": `)

func modelFault(err error) *fault {
	var failed *llm.Error
	if !errors.As(err, &failed) {
		return nil
	}
	return faultf(exitOfCode(string(failed.Code)), string(failed.Code), cmp.Or(failed.Hint, hintOf(string(failed.Code))), "%s", failed)
}

// hintOf is what to do about a failure that says nothing of it itself.
func hintOf(code string) string {
	switch c := llm.Code(code); {
	case c == llm.CodeOverflow:
		return "choose a strategy with -c compaction.strategy=NAME, a model with a larger window, or fewer tools; then go on"
	case c == llm.CodeMalformed:
		return "check that base_url is that of a Chat Completions endpoint, and what stands between you and it"
	case c == llm.CodeEmptyResponse:
		return "go on, or choose another model"
	case c == llm.CodeInvalidRequest:
		return "check the model's parameters in the profile: tureen profile show --resolved"
	case slices.Contains(providerCodes, c):
		return "the fault is the endpoint's: go on later, or look at its own log"
	case code == host.CodeApprovalUnavailable:
		return `resume in a terminal and answer there, allow such calls with a rule in the profile, or write approval = "never" to have them denied without being asked about`
	case code == agent.CodeUnfinished:
		return "see what stood in its way: tureen session show ID; then let it go on"
	case code == "BLOCKED":
		return "tureen plugin list shows which plugins have a say"
	case code == "PLUGIN_HOOK_FAILED":
		return `mend the plugin, or write on_failure = "continue" in its row to pass over this (calls that it has to judge are denied all the same)`
	case strings.HasPrefix(code, "PLUGIN_"):
		return "mend the plugin; tureen plugin inspect PATH starts it alone, and -v shows what it logs"
	}
	return ""
}

// providerCodes are the failures of the model's endpoint.
var providerCodes = []llm.Code{
	llm.CodeAuth, llm.CodeQuota, llm.CodeRateLimit, llm.CodeInvalidRequest, llm.CodeServer, llm.CodeTransport,
	llm.CodeTimeout, llm.CodeAborted, llm.CodeEmptyResponse, llm.CodeMalformed, llm.CodeStreamClosed, llm.CodeNotFound,
}

// exitOfCode is the exit code for a turn that ended with an error of that code.
func exitOfCode(code string) int {
	switch {
	case code == string(llm.CodeOverflow):
		return exitContext
	case slices.Contains(providerCodes, llm.Code(code)):
		return exitProvider
	case strings.HasPrefix(code, "PLUGIN_"):
		return exitPlugin
	}
	return exitUnexpected
}

// advice cuts a one-line message at its last semicolon: what, and what to do.
func advice(text string) (what, do string) {
	at := strings.LastIndex(text, "; ")
	if at < 0 || strings.Contains(text, "\n") {
		return text, ""
	}
	return text[:at], text[at+2:]
}
