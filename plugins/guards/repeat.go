package guards

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/hook"
)

// CodeLoop is how a turn ends that went round in circles.
const CodeLoop = "LOOP"

// Bounds of the texts, in characters.
const (
	previewChars = 500 // of the arguments, in a reminder
	stopChars    = 120 // of the arguments, in what the person reads
)

const (
	firstReminder = "You have now made the same call of %s with the same arguments %d times in a row. " +
		"Read the last result again: one more call of this kind will tell you nothing new. " +
		"If the task is not done, take another step: other arguments, another tool, another idea."
	firstCycleReminder = "You are going in a circle: %s, each time with the same arguments, %d times round. " +
		"Read the last results again: one more round will tell you nothing new. " +
		"If the task is not done, take another step: other arguments, another tool, another idea."
	laterReminder = "Still the same, and nothing comes of it:\n%s- times in a row: %d\n" +
		"Do not call this with these arguments again. Go on from the newest result: do something else, " +
		"or end with a report of what is done and what is missing."
	pollReminder = "You have looked %d times in a row with %s, and did nothing else in between. " +
		"Looking again does not make it go faster. Do other work meanwhile, wait longer within one call, " +
		"or end your turn with a report of what is still running."
	stopNotice = " At %d in a row the turn is ended."
)

// The keys of the config that the messages name.
const (
	keyStopAt     = "stop_at"
	keyPollStopAt = "poll_stop_at"
)

// judge says what to do about a cycle that was gone through rounds times: nothing,
// a reminder, or the end of the turn.
func (c Config) judge(cycle []call, rounds int) hook.OutcomeDecision {
	if c.StopAt > 0 && rounds >= c.StopAt {
		return hook.OutcomeDecision{Stop: &hook.Stop{Code: CodeLoop, Message: stopMessage(cycle, rounds, keyStopAt)}}
	}
	at := slices.Index(c.RemindAt, rounds)
	if at < 0 {
		return hook.OutcomeDecision{}
	}
	var text string
	switch {
	case at > 0:
		text = fmt.Sprintf(laterReminder, listing(cycle), rounds)
	case len(cycle) == 1:
		text = fmt.Sprintf(firstReminder, cycle[0].name, rounds)
	default:
		text = fmt.Sprintf(firstCycleReminder, names(cycle), rounds)
	}
	if c.StopAt > 0 {
		text += fmt.Sprintf(stopNotice, c.StopAt)
	}
	return hook.OutcomeDecision{Contexts: []string{text}}
}

// judgePolls is judge for calls of tools that are made to be repeated.
func (c Config) judgePolls(cycle []call, rounds int) hook.OutcomeDecision {
	switch {
	case rounds == 0:
		return hook.OutcomeDecision{}
	case c.PollStopAt > 0 && rounds >= c.PollStopAt:
		return hook.OutcomeDecision{Stop: &hook.Stop{Code: CodeLoop, Message: stopMessage(cycle, rounds, keyPollStopAt)}}
	case rounds != c.PollRemindAt:
		return hook.OutcomeDecision{}
	}
	text := fmt.Sprintf(pollReminder, rounds, names(cycle))
	if c.PollStopAt > 0 {
		text += fmt.Sprintf(stopNotice, c.PollStopAt)
	}
	return hook.OutcomeDecision{Contexts: []string{text}}
}

func listing(cycle []call) string {
	var b strings.Builder
	for _, c := range cycle {
		fmt.Fprintf(&b, "- tool: %s\n- arguments: %s\n", c.name, c.preview)
	}
	return b.String()
}

func names(cycle []call) string {
	var all []string
	for _, c := range cycle {
		all = append(all, c.name)
	}
	return strings.Join(all, ", then ")
}

func stopMessage(cycle []call, rounds int, key string) string {
	var all []string
	for _, c := range cycle {
		all = append(all, c.name+" "+preview(c.preview, stopChars))
	}
	return fmt.Sprintf("the model made the same calls %d times in a row: %s; give it another hint, or raise %s of plugin %q", rounds, strings.Join(all, ", then "), key, Name)
}

// preview is the beginning of a text, at most n characters of it.
func preview(text string, n int) string {
	total := utf8.RuneCountInString(text)
	if total <= n {
		return text
	}
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return fmt.Sprintf("%s… (%d more characters)", text[:end], total-n)
}
