package render

import (
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

// StreamVersion is the v of every line. Within a version, types and fields are
// only added; readers ignore what they do not know.
const StreamVersion = 1

// types are the events of a stream. The last one is last on every path.
var types = []struct {
	name, when string
	payload    any
}{
	{"session.started", "the session is open; missing where it could not be opened", SessionStarted{}},
	{"turn.started", "input was claimed", TurnStarted{}},
	{"step.started", "a model request is about to be sent", StepStarted{}},
	{"item.completed", "a message, a tool call or a tool result is in the log", ItemCompleted{}},
	{"request.failed", "a model request came to nothing; retry_after_ms is the wait before the next, 0 if none follows", RequestFailed{}},
	{"context.usage", "after each step", ContextUsage{}},
	{"compaction.completed", "the surface was replaced", CompactionCompleted{}},
	{"compaction.failed", "the old surface stays", CompactionFailed{}},
	{"compaction.postponed", "it comes after the next step, which is for last words", CompactionPostponed{}},
	{"compaction.undone", "the surface is again what it was before that compaction", CompactionUndone{}},
	{"compaction.rest", "automatic compaction rests no longer, or again", CompactionRest{}},
	{"undo.refused", "another process asked for an undo that cannot be", UndoRefused{}},
	{"session.archived", "the session was put away and takes no step, or was taken out again", SessionArchived{}},
	{"question.asked", "a person is asked: kind is approval or question", QuestionAsked{}},
	{"question.answered", "what a question came to; after pending an answer may still follow", QuestionAnswered{}},
	{"command.run", "a person's slash command was run", CommandRun{}},
	{"directory.changed", "tools start from another directory", DirectoryChanged{}},
	{"child.spawned", "a subagent begins to work, again where it had settled", ChildSpawned{}},
	{"child.settled", "a subagent's work came to its end", ChildSettled{}},
	{"report", "the agent gave a structured result", Report{}},
	{"plugin.state", "a plugin process crashed, came back or is disabled", PluginState{}},
	{"warning", "something that a person should know", Warning{}},
	{"turn.completed", "the turn came to its end", TurnEnded{}},
	{"turn.failed", "the turn ended for another reason: status is max_tokens, limit, blocked, cancelled or error", TurnEnded{}},
	{"run.completed", "always last; the object that -o json prints", host.Result{}},
}

// SessionStarted says what runs.
type SessionStarted struct {
	Session       string   `json:"session"`
	Resumed       bool     `json:"resumed"`
	Profile       string   `json:"profile"`
	Strategy      string   `json:"strategy"`
	Workspace     string   `json:"workspace"`
	Provider      string   `json:"provider"`
	Model         string   `json:"model"`
	ContextWindow int      `json:"context_window"` // 0 = unknown
	WindowSource  string   `json:"window_source"`  // profile | probed | unknown
	ResetAt       int      `json:"reset_at"`
	Plugins       []string `json:"plugins"` // name@version
	Version       string   `json:"version"`
}

// TurnStarted opens a turn.
type TurnStarted struct {
	Turn int `json:"turn"`
}

// StepStarted opens a step.
type StepStarted struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
}

// ItemCompleted carries an item.
type ItemCompleted struct {
	Turn int  `json:"turn"`
	Step int  `json:"step"`
	Item Item `json:"item"`
}

// Item is a message (role, source, text, reasoning), a tool_call (call_id, name,
// arguments as the model wrote them) or a tool_result (call_id, name, text,
// is_error, code, ms).
type Item struct {
	Type      string `json:"type"`
	Role      string `json:"role,omitempty"`
	Source    string `json:"source,omitempty"`
	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`
	Code      string `json:"code,omitempty"`
	Millis    int64  `json:"ms,omitempty"`
}

// RequestFailed is a model request without an answer.
type RequestFailed struct {
	Turn       int    `json:"turn"`
	Step       int    `json:"step"`
	Attempt    int    `json:"attempt"` // 0 = the step's first request
	Code       string `json:"code"`
	Message    string `json:"message"`
	RetryAfter int64  `json:"retry_after_ms"`
}

// ContextUsage is the context meter, in tokens.
type ContextUsage struct {
	Turn          int    `json:"turn"`
	Step          int    `json:"step"`
	Used          int    `json:"used"`
	Size          int    `json:"size"` // 0 = unknown
	ResetAt       int    `json:"reset_at"`
	FixedOverhead int    `json:"fixed_overhead"`
	Source        string `json:"source"` // usage | estimate
	Window        int    `json:"window"` // ordinal
}

// CompactionCompleted is an applied compaction.
type CompactionCompleted struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
	host.CompactionResult
	Relieved bool `json:"relieved"`
}

// CompactionFailed is one that was not.
type CompactionFailed struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
	session.CompactionFailed
}

// CompactionPostponed is one that was put off by a step.
type CompactionPostponed struct {
	Turn     int             `json:"turn"`
	Step     int             `json:"step"`
	Strategy string          `json:"strategy"`
	Trigger  session.Trigger `json:"trigger"`
	Tokens   int             `json:"tokens"` // in use
}

// CompactionUndone names a compaction by its ordinal, and who asked, "" for this process.
type CompactionUndone struct {
	Ordinal int    `json:"ordinal"`
	From    string `json:"from"`
}

// CompactionRest tells whether automatic compaction rests, and why.
type CompactionRest struct{ session.CompactionRest }

// UndoRefused says why, and what to do instead.
type UndoRefused struct{ session.UndoRefused }

// SessionArchived tells which of the two, and who asked, "" for this process.
type SessionArchived struct {
	Archived bool   `json:"archived"`
	From     string `json:"from"`
}

// QuestionAsked puts a question to a person.
type QuestionAsked struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
	session.Question
}

// QuestionAnswered is what became of it.
type QuestionAnswered struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
	session.Answer
}

// CommandRun is a slash command and its answer.
type CommandRun struct{ session.CommandRun }

// DirectoryChanged names the new directory and the old one.
type DirectoryChanged struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
	session.DirectoryChanged
}

// ChildSpawned names a subagent's session.
type ChildSpawned struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
	session.ChildSpawned
}

// ChildSettled says how a subagent ended.
type ChildSettled struct{ session.ChildSettled }

// Report is any JSON.
type Report struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
	session.Report
}

// PluginState is what became of a plugin process.
type PluginState struct{ session.PluginState }

// Warning is for a person.
type Warning struct{ session.Warning }

// TurnEnded closes a turn.
type TurnEnded struct {
	Turn   int              `json:"turn"`
	Status session.Reason   `json:"status"`
	Error  *session.Failure `json:"error"`
}

// WriteTypes prints the table of event types with their fields.
func WriteTypes(w io.Writer) {
	fmt.Fprintf(w, "Each line is one JSON object: {\"v\":%d,\"seq\":n,\"ts\":time,\"type\":...} and the fields of\nits type. seq counts from 1. Ignore types and fields that you do not know.\n\n", StreamVersion)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range types {
		fmt.Fprintf(tab, "%s\t%s\n", t.name, t.when)
		fmt.Fprintf(tab, "\t  %s\n", strings.Join(fields(reflect.TypeOf(t.payload)), ", "))
	}
	tab.Flush()
}

// jsonFields are the fields of a struct under their JSON names, in order; those of
// an embedded struct are its own.
func jsonFields(t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !yield(name, f) {
				return
			}
		}
	}
}

// fields names the JSON fields of a struct, those of a struct within it in braces.
func fields(t reflect.Type) []string {
	var names []string
	for name, f := range jsonFields(t) {
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			name += " {" + strings.Join(fields(inner), ", ") + "}"
		}
		names = append(names, name)
	}
	return names
}
