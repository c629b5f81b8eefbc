package session

import (
	"encoding/json"
	"time"

	"github.com/tureen-host/tureen/host/llm"
)

// The kinds of events and, beside each, its payload.
const (
	KindSessionCreated Kind = "session.created" // Created; always seq 1
	KindSessionOpened  Kind = "session.opened"  // Opened; each time a process takes the session

	KindInboxQueued  Kind = "inbox.queued"  // InboxItem
	KindInboxClaimed Kind = "inbox.claimed" // InboxClaimed

	KindTurnStarted Kind = "turn.started" // TurnStarted
	KindTurnEnded   Kind = "turn.ended"   // TurnEnded
	KindStepStarted Kind = "step.started" // StepStarted
	KindStepEnded   Kind = "step.ended"   // StepEnded

	KindMessageSystem    Kind = "message.system"    // Message; node 0
	KindMessageUser      Kind = "message.user"      // Message
	KindMessageAssistant Kind = "message.assistant" // Assistant
	KindAttempt          Kind = "assistant.attempt" // Attempt; log-only, never on the surface (M16)
	KindToolStarted      Kind = "tool.started"      // ToolStarted
	KindToolResult       Kind = "tool.result"       // ToolResult; a node
	KindToolSpilled      Kind = "tool.spilled"      // Spilled; log-only, the whole text of a result that is shown shortened (C14)
	KindRequestHeader    Kind = "request.header"    // Header; only when it changed (L11)

	KindModelCall Kind = "model.call" // ModelCall; a request that is not a step's: compaction, notes, other

	KindCompactionStarted   Kind = "compaction.started"   // CompactionStarted
	KindCompactionEnded     Kind = "compaction.ended"     // CompactionEnded
	KindCompactionFailed    Kind = "compaction.failed"    // CompactionFailed
	KindCompactionPostponed Kind = "compaction.postponed" // CompactionPostponed
	KindCompactionArmed     Kind = "compaction.armed"     // CompactionArmed
	KindCompactionDropped   Kind = "compaction.dropped"   // CompactionDropped
	KindNodesDropped        Kind = "surface.dropped"      // no payload; Op drop
	KindMarkShown           Kind = "mark.shown"           // MarkShown
	KindBreaker             Kind = "compaction.breaker"   // Breaker

	KindCompactionAsked  Kind = "compaction.asked"  // CompactionAsked; a person asked from outside
	KindCompactionUndone Kind = "compaction.undone" // CompactionUndone; the surface is what it was before the newest compaction
	KindCompactionRest   Kind = "compaction.rest"   // CompactionRest; automatic compaction rests after an undo, or not any more
	KindUndoAsked        Kind = "undo.asked"        // UndoAsked; a person asked from outside
	KindUndoRefused      Kind = "undo.refused"      // UndoRefused
	KindCancelAsked      Kind = "cancel.asked"      // CancelAsked
	KindSessionArchived  Kind = "session.archived"  // Archived; an archived session takes no step (L18)

	KindWindowLearned Kind = "window.learned" // WindowLearned; the endpoint named a smaller context window

	KindQuestionAsked    Kind = "question.asked"    // Question; put to the person
	KindQuestionAnswered Kind = "question.answered" // Answer
	KindCommandRun       Kind = "command.run"       // CommandRun; a person's slash command
	KindDirectoryChanged Kind = "directory.changed" // DirectoryChanged

	KindChildSpawned Kind = "child.spawned" // ChildSpawned; a subagent's session began (S1)
	KindChildSettled Kind = "child.settled" // ChildSettled; what it came to (S3)
	KindReport       Kind = "report"        // Report; a structured result (S4)

	KindRecord  Kind = "record"     // Record; a plugin's own
	KindPlugin  Kind = "plugin"     // PluginState
	KindWarning Kind = "warning"    // Warning; for people
	KindLost    Kind = "event.lost" // Lost; stands in for an event that a salvage could not keep
)

// Created is the birth of a session.
type Created struct {
	ID        string    `json:"id"`
	Workspace string    `json:"workspace"` // the working directory, absolute
	Profile   string    `json:"profile"`
	Strategy  string    `json:"strategy"`
	Title     string    `json:"title"` // first line of the first prompt, at most 80 characters
	Time      time.Time `json:"time"`
	// Parent is the session that spawned this one as a subagent, "" for one of a
	// person's own; Depth counts its ancestors. Spawn is what the spawning plugin
	// wants to know again (S1).
	Parent string          `json:"parent,omitempty"`
	Depth  int             `json:"depth,omitempty"`
	Spawn  json.RawMessage `json:"spawn,omitempty"`
	// Origin is the log that this one was made from, nil for one that began empty.
	// The events up to Origin.Seq are that log's.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin says what a log was made from.
type Origin struct {
	Session string `json:"session"`
	Seq     int64  `json:"seq"` // the last event taken over
	How     How    `json:"how"`
	// Used is what the other session itself had used up to there, and Children how
	// many subagents it had had: the first ones in this log, none of which is its own.
	Used     llm.Usage `json:"used,omitzero"`
	Children int       `json:"children,omitempty"`
}

// How a log was made from another.
type How string

const (
	HowFork    How = "fork"    // a branch of its own from that event on
	HowSalvage How = "salvage" // what could be rescued of a damaged log
)

// Archived puts a session away, or takes it out again (L18).
type Archived struct {
	Archived bool   `json:"archived"`
	From     string `json:"from,omitempty"` // "pid 123 on HOST", where another process asked
}

// Opened says which process took the session and what it runs.
type Opened struct {
	Version string   `json:"version"`
	Plugins []string `json:"plugins"` // name@version
	Resumed bool     `json:"resumed"`
	// Profile and Strategy are those in use, which may differ from the session's own.
	Profile  string `json:"profile,omitempty"`
	Strategy string `json:"strategy,omitempty"`
	// Window is the context window that the person named on the command line, 0 = none.
	// It holds instead of a learned one.
	Window int `json:"window,omitempty"`
}

// Queue is one of the inbox's two lists (L4).
type Queue string

const (
	NextTurn Queue = "next-turn"
	NextStep Queue = "next-step"
)

// Source says who wrote a user message.
type Source string

const (
	SourceOwner      Source = "owner"           // the person
	SourceSteer      Source = "steer"           // the person, during a turn
	SourceHost       Source = "host"            // the host's own notices, marks included
	SourcePlugin     Source = "plugin"          // a plugin's steering or context
	SourceContext    Source = "runtime-context" // L13
	SourceCheckpoint Source = "checkpoint"      // what a compaction left in place of the old messages
)

// InboxItem waits for a turn or a step. Its id is the event's seq.
type InboxItem struct {
	Queue  Queue  `json:"queue"`
	Source Source `json:"source"`
	From   string `json:"from,omitempty"` // the plugin's name, where Source is plugin
	Text   string `json:"text"`
	Wake   bool   `json:"wake"`
	Key    string `json:"key,omitempty"` // dedupe key: a second item of the same key is not queued
}

// InboxClaimed takes items out of the inbox, in order.
type InboxClaimed struct {
	Items []int64 `json:"items"` // seqs of inbox.queued events
}

// TurnStarted opens a turn. Turn ordinals count from 1.
type TurnStarted struct{}

// Reason is why a turn ended; it is a run's status too.
type Reason string

const (
	ReasonCompleted Reason = "completed"
	ReasonMaxTokens Reason = "max_tokens"
	ReasonLimit     Reason = "limit"
	ReasonBlocked   Reason = "blocked"
	ReasonCancelled Reason = "cancelled"
	ReasonError     Reason = "error"
)

// TurnEnded closes a turn.
type TurnEnded struct {
	Reason Reason   `json:"reason"`
	Error  *Failure `json:"error,omitempty"`
	// Repaired marks a turn that was closed after a crash (R1).
	Repaired bool `json:"repaired,omitempty"`
}

// Failure is an error as the log and the output keep it.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// StepStarted opens a step of a turn.
type StepStarted struct{}

// StepEnded closes a step.
type StepEnded struct {
	Repaired bool `json:"repaired,omitempty"`
}

// Message is a system or user message on the surface.
type Message struct {
	Message *llm.Message `json:"message"`
	Source  Source       `json:"source,omitempty"`
	From    string       `json:"from,omitempty"`
	Item    int64        `json:"item,omitempty"` // the inbox item it came from
}

// Assistant is a model's answer on the surface.
type Assistant struct {
	Message *llm.Message   `json:"message"`
	Usage   llm.Usage      `json:"usage"`
	Stop    llm.StopReason `json:"stop,omitempty"`
	Model   string         `json:"model,omitempty"`
	Attempt int            `json:"attempt,omitempty"` // 0 = the step's first request
	Millis  int64          `json:"ms,omitempty"`
	// Purpose is "" for a step of the work, notes for one of last words.
	Purpose llm.Purpose `json:"purpose,omitempty"`
}

// Attempt is a request that came to nothing.
type Attempt struct {
	Code       string       `json:"code"`
	Message    string       `json:"message"`
	Attempt    int          `json:"attempt,omitempty"` // 0 = the step's first request
	Partial    *llm.Message `json:"partial,omitempty"`
	Usage      llm.Usage    `json:"usage"`
	RetryAfter int64        `json:"retry_after_ms,omitempty"` // the wait chosen before the next attempt; 0 = none follows
	Purpose    llm.Purpose  `json:"purpose,omitempty"`        // as in Assistant
	Counted    int          `json:"counted,omitempty"`        // tokens of input, as an endpoint that found it too long counted them; 0 = not said
}

// ToolStarted is written before a call is dispatched.
type ToolStarted struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Plugin string `json:"plugin,omitempty"`
	// Confinement is what the hooks bound the call to (T17).
	Confinement *Confinement `json:"confinement,omitempty"`
}

// ToolResult answers a call.
type ToolResult struct {
	Message *llm.Message `json:"message"`
	Name    string       `json:"name"`
	Code    string       `json:"code,omitempty"` // TOOL_OUTCOME_UNKNOWN, TOOL_NOT_STARTED, …; never shown to the model
	Millis  int64        `json:"ms,omitempty"`
	Effects []string     `json:"effects,omitempty"`
	// Spilled is the seq of the event that keeps the whole text, 0 where the
	// message is the whole.
	Spilled int64 `json:"spilled,omitempty"`
}

// Spilled keeps a tool result that is too long to be shown; the result itself
// follows in the same append, as a preview.
type Spilled struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	Lines  int    `json:"lines"`
	Tokens int    `json:"tokens"` // estimate
	Text   string `json:"text"`
	// LeftOut is how many bytes the tool had left out of the text for good.
	LeftOut int64 `json:"left_out,omitempty"`
}

// Header is what a request carries besides its messages.
type Header struct {
	Provider        string         `json:"provider"`
	Model           string         `json:"model"`
	ContextWindow   int            `json:"context_window"`
	WindowSource    string         `json:"window_source"`
	MaxOutputTokens int            `json:"max_output_tokens"`
	Effort          string         `json:"effort,omitempty"`
	Params          map[string]any `json:"params,omitempty"`
	Tools           []llm.Tool     `json:"tools"`
	ToolsDigest     string         `json:"tools_digest"` // hex SHA-256 of the declarations
}

// ModelCall books a request that no step made.
type ModelCall struct {
	Purpose llm.Purpose `json:"purpose"`
	Plugin  string      `json:"plugin,omitempty"`
	Usage   llm.Usage   `json:"usage"`
	Error   string      `json:"error,omitempty"`
	Millis  int64       `json:"ms"`
}

// Trigger is why a compaction was looked for.
type Trigger string

const (
	TriggerPressure  Trigger = "pressure"
	TriggerStopping  Trigger = "stopping"
	TriggerRequested Trigger = "requested"
	TriggerOverflow  Trigger = "overflow"
	TriggerManual    Trigger = "manual"
)

// CompactionStarted opens the one append that a compaction is.
type CompactionStarted struct {
	Ordinal      int     `json:"ordinal"` // from 1
	Strategy     string  `json:"strategy"`
	Kind         string  `json:"kind"` // trim | summary | reset
	Trigger      Trigger `json:"trigger"`
	Attempt      int     `json:"attempt"`
	TokensBefore int     `json:"tokens_before"`
	Revision     int64   `json:"revision"` // head seq that the proposal was made for
}

// CompactionEnded closes it.
type CompactionEnded struct {
	Ordinal      int     `json:"ordinal"`
	Strategy     string  `json:"strategy"`
	Kind         string  `json:"kind"`
	Trigger      Trigger `json:"trigger"`
	TokensBefore int     `json:"tokens_before"`
	TokensAfter  int     `json:"tokens_after"`
	Millis       int64   `json:"ms"`
	ModelCalls   int     `json:"model_calls"` // the strategy's own, while it proposed
	// CostUSD is what these calls cost; nil = unpriced. No call costs 0.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	Dropped int      `json:"dropped"` // messages that left the surface
	Trimmed int      `json:"trimmed"` // results that were cut
	Kept    int      `json:"kept"`    // messages behind node 0 that stand as they stood
	// Relieved tells whether the new surface lies below the line.
	Relieved bool `json:"relieved"`
	// Boot is the frozen text that the new window starts with, "" where the
	// strategy has none (N18, N19).
	Boot string `json:"boot,omitempty"`
}

// CompactionFailed leaves the old surface in force.
type CompactionFailed struct {
	Strategy string  `json:"strategy"`
	Trigger  Trigger `json:"trigger"`
	Attempt  int     `json:"attempt"`
	Error    string  `json:"error"`
	// What it took: the tokens in use, and the calls that the strategy made, as in
	// CompactionEnded.
	Tokens     int      `json:"tokens"`
	ModelCalls int      `json:"model_calls"`
	CostUSD    *float64 `json:"cost_usd"` // nil = unpriced
	Millis     int64    `json:"ms"`
}

// WindowLearned says that the endpoint's context window is smaller than the one in
// force. It holds for this model and window of the profile, until the endpoint answers
// a longer prompt or the session is opened with a window of the person's own.
type WindowLearned struct {
	Model  string `json:"model"`
	Window int    `json:"window"` // in tokens
	Before int    `json:"before"` // the one in force until then, 0 = unknown
	Why    string `json:"why"`    // what the endpoint said
}

// CompactionPostponed puts a compaction off by one step, the next, which is shown Text:
// time for last words. When that step is done the compaction comes. There is at most one
// between two compactions.
type CompactionPostponed struct {
	Strategy string   `json:"strategy"`
	Trigger  Trigger  `json:"trigger"`
	Tokens   int      `json:"tokens"` // in use
	Plugin   string   `json:"plugin,omitempty"`
	Text     []string `json:"text,omitempty"`
}

// CompactionArmed notes that a tool result asked for a compaction.
type CompactionArmed struct {
	CallID string `json:"call_id"`
	Note   string `json:"note,omitempty"`
}

// CompactionDropped takes a request back: the one that the call armed, or, where
// CallID is "", the one that a person asked for.
type CompactionDropped struct {
	CallID string `json:"call_id,omitempty"`
	Why    string `json:"why"`
}

// CompactionAsked is a person's request that waits for the next step boundary.
type CompactionAsked struct {
	Instructions string `json:"instructions,omitempty"`
	From         string `json:"from,omitempty"`
}

// CompactionUndone gives back the surface, the window and the plugin's records from
// before the newest compaction. Nodes that followed the compaction stay behind
// them. The records that it puts back follow in the same append.
type CompactionUndone struct {
	Ordinal int    `json:"ordinal"`        // of the compaction
	Seq     int64  `json:"seq"`            // of its compaction.ended
	From    string `json:"from,omitempty"` // "pid 123 on HOST", where another process asked
}

// CompactionRest says whether automatic compaction rests. It begins to rest with a
// compaction.undone, which says nothing of it here.
type CompactionRest struct {
	Rest bool   `json:"rest"`
	Why  string `json:"why"`
}

// UndoAsked is a person's request, from another process, that waits until nothing runs.
type UndoAsked struct {
	From string `json:"from,omitempty"`
}

// UndoRefused says why nothing is undone.
type UndoRefused struct {
	Why    string `json:"why"`
	Hint   string `json:"hint,omitempty"`
	ForkAt int64  `json:"fork_at,omitempty"` // where a fork has what was before the newest compaction
}

// Sentence is what people are told.
func (u UndoRefused) Sentence() string { return "nothing is undone: " + u.Why }

// CancelAsked is a person's word, from another process, to end the running step.
type CancelAsked struct {
	From string `json:"from,omitempty"`
}

// MarkShown says that a mark's text was steered in this window.
type MarkShown struct {
	ID string `json:"id"`
}

// Breaker says whether automatic compaction rests.
type Breaker struct {
	Open bool   `json:"open"`
	Why  string `json:"why"`
}

// Record is a plugin's own entry. Plugin and Kind name it; the newest of a
// (Plugin, Kind, Key) wins.
type Record struct {
	Plugin string          `json:"plugin"`
	Kind   string          `json:"kind"`
	Key    string          `json:"key,omitempty"`
	Data   json.RawMessage `json:"data"`
}

// PluginState tells of a plugin process: started, crashed, disabled.
type PluginState struct {
	Plugin     string `json:"plugin"`
	Generation int    `json:"generation"`
	State      string `json:"state"`
	Detail     string `json:"detail,omitempty"`
}

// Warning is a host's word to the person, never to the model.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Lost stands in for an event that a salvage could not keep, so that the seqs of
// the others stay what they were.
type Lost struct {
	Why string `json:"why"`
	// Event is what could be read and could not stand; nil where nothing could.
	Event *Event `json:"event,omitempty"`
}
