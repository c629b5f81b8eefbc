package session

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
)

// Saying are the kinds of events that say something; see Texts.
var Saying = []Kind{KindMessageUser, KindMessageAssistant, KindToolResult, KindToolSpilled,
	KindQuestionAsked, KindQuestionAnswered, KindCommandRun}

// Texts are what an event says, to whoever searches it: messages, reasoning, a call's
// name and arguments as they are and as the tool reads them, results, questions and
// commands. What does not decode says nothing.
func Texts(e Event) []string {
	switch e.Kind {
	case KindMessageUser:
		return textsOf(e, func(p Message) []string { return messageTexts(p.Message) })
	case KindMessageAssistant:
		return textsOf(e, func(p Assistant) []string { return messageTexts(p.Message) })
	case KindToolResult:
		return textsOf(e, func(p ToolResult) []string { return messageTexts(p.Message) })
	case KindToolSpilled:
		return textsOf(e, func(p Spilled) []string { return []string{p.Text} })
	case KindQuestionAsked:
		return textsOf(e, func(p Question) []string { return []string{p.Text, p.Detail} })
	case KindQuestionAnswered:
		return textsOf(e, func(p Answer) []string { return append([]string{p.Text}, p.Choices...) })
	case KindCommandRun:
		return textsOf(e, func(p CommandRun) []string { return []string{p.Name, p.Arguments, p.Text, p.Error} })
	}
	return nil
}

func textsOf[T any](e Event, say func(T) []string) []string {
	p, err := Decode[T](e)
	if err != nil {
		return nil
	}
	return say(p)
}

func messageTexts(m *llm.Message) []string {
	if m == nil {
		return nil
	}
	texts := []string{m.Text(), m.Reasoning()}
	for _, c := range m.Calls() {
		texts = append(texts, c.Name+" "+c.Arguments)
		if strings.Contains(c.Arguments, `\`) {
			texts = append(texts, Unescaped(c.Arguments))
		}
	}
	return texts
}

// Unescaped is the text of a call's arguments as the tool reads it: escapes of JSON
// become what they stand for.
func Unescaped(json string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(json, `\`)
		b.WriteString(before)
		if !found || rest == "" {
			return b.String()
		}
		if r, n := unit(rest); n > 0 {
			if low, m := unit(strings.TrimPrefix(rest[n:], `\`)); utf16.IsSurrogate(r) && m > 0 && strings.HasPrefix(rest[n:], `\`) {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					r, n = pair, n+1+m
				}
			}
			b.WriteRune(r)
			json = rest[n:]
			continue
		}
		if at := strings.IndexByte("nrtbf", rest[0]); at >= 0 {
			b.WriteByte("\n\r\t\b\f"[at])
		} else {
			b.WriteByte(rest[0])
		}
		json = rest[1:]
	}
}

// unit reads uXXXX at the beginning of a text, 0 bytes where there is none.
func unit(text string) (rune, int) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, 0
	}
	n, err := strconv.ParseUint(text[1:5], 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(n), 5
}
