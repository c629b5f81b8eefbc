package summary

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

//go:embed prompts/instruction.md
var instruction string

//go:embed prompts/preamble.md
var preamble string

//go:embed prompts/words.md
var wordsPreamble string

//go:embed prompts/words-child.md
var childPreamble string

// contract ends every request, also behind an instruction that a user wrote: an answer
// that does not keep it is of no use.
//
//go:embed prompts/contract.md
var contract string

// moreFollows tells a stage that it is not the last one.
const moreFollows = "The conversation goes on behind what you see and will be worked into your text part by part. Take what stands above this message as it is and write down how things stood at its end."

const (
	openTag    = "<compacted-summary>"
	closeTag   = "</compacted-summary>"
	openWords  = "<user-messages>"
	closeWords = "</user-messages>"
)

// childNote tells the model that condenses a subagent's session who its user is.
const childNote = "This is the session of a subagent: its user is the agent above it, and no person. Where you tell what was asked and allowed, say that the agent above said so."

// fenced is a text that cannot write the tags around it (C125).
func fenced(text string) string {
	return compaction.Escape(text, "compacted-summary*", "user-message", "user-messages")
}

// ask is the instruction with what the profile and a manual request add.
func (s *Strategy) ask(manual string) string {
	text := strings.TrimSpace(instruction)
	if own := strings.TrimSpace(s.config.Instruction); own != "" {
		text = own
	}
	for _, more := range []string{s.config.Guidance, manual} {
		if more = strings.TrimSpace(more); more != "" {
			text += "\n\n" + more
		}
	}
	return text
}

// final is the instruction of a whole conversation or of the last stage, staged that of
// a stage before.
func final(ask string) string { return ask + "\n\n" + strings.TrimSpace(contract) }

func staged(ask string) string { return final(ask + "\n\n" + moreFollows) }

// read takes the summary out of an answer; one that is of no use is an error (C6).
func read(answer session.Generated, limit int) (string, error) {
	if answer.Stop == llm.StopMaxTokens {
		return "", fmt.Errorf("%w (%d tokens): raise compaction.summary.max_output_tokens or model.max_output_tokens, or lower compaction.summary.effort", ErrTruncated, limit)
	}
	if answer.Message == nil {
		return "", ErrEmpty
	}
	text := strings.TrimSpace(answer.Message.Text())
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, openTag), closeTag))
	switch {
	case answer.Stop == llm.StopToolCalls || len(answer.Message.Calls()) > 0: // the wire carries text alone
		return "", fmt.Errorf("%w; the call was not carried out", ErrCalls)
	case text == "":
		return "", ErrEmpty
	}
	return text, nil
}

// frame makes the checkpoint message (C8): the summary, and behind it what the user
// said, each in a fence of its own. child tells that it is the agent above who said it.
func frame(text string, words []string, child bool) *llm.Message {
	from := wordsPreamble
	if child {
		from = childPreamble
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(preamble) + "\n\n" + openTag + "\n" + fenced(text) + "\n" + closeTag)
	if len(words) > 0 {
		b.WriteString("\n\n" + strings.TrimSpace(from) + "\n\n" + openWords + "\n" + strings.Join(words, "\n") + "\n" + closeWords)
	}
	return llm.Text(llm.RoleUser, b.String())
}
