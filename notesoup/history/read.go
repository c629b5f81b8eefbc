package history

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// ReadAsk selects the events From..To, both included. To 0 is From alone.
type ReadAsk struct {
	From, To int64
	Offset   int // code points to leave out at the start
	Bytes    int // bound of the page; 0 = MaxBytes
}

// Read is what was said, word for word. Behind the page next_offset_chars says
// how to go on.
func Read(ctx context.Context, log Log, ask ReadAsk) (string, error) {
	if ask.To == 0 {
		ask.To = ask.From
	}
	if ask.From < 1 || ask.To < ask.From || ask.Offset < 0 {
		return "", refuse("seq %d to %d from character %d is no stretch of the log; seqs begin at 1", ask.From, ask.To, ask.Offset)
	}
	limit := MaxBytes
	if ask.Bytes > 0 {
		limit = min(limit, ask.Bytes)
	}
	limit -= 128 // for the first line
	text, more, err := collect(ctx, log, ask, limit)
	if err != nil {
		return "", err
	}
	total := utf8.RuneCountInString(text)
	if ask.Offset > 0 && ask.Offset >= total {
		return "", refuse("offset_chars %d is behind the end, there are %d", ask.Offset, total)
	}
	rest := text
	for range ask.Offset {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	page := cut(rest, limit)
	line := fmt.Sprintf("ok history_read seq=%d", ask.From)
	if ask.To != ask.From {
		line += fmt.Sprintf("-%d", ask.To)
	}
	if len(page) < len(rest) || more {
		line += fmt.Sprintf(" next_offset_chars=%d", ask.Offset+utf8.RuneCountInString(page))
	}
	return line + "\n" + page, nil
}

// collect renders the events until the page is surely full.
func collect(ctx context.Context, log Log, ask ReadAsk, limit int) (text string, more bool, err error) {
	var b strings.Builder
	runes, found := 0, false
	for e, err := range log.Events(ctx, session.Query{After: ask.From - 1, Before: ask.To + 1}) {
		if err != nil {
			return "", false, err
		}
		found = true
		part, err := render(ctx, log, e, ask.From != ask.To)
		if err != nil {
			return "", false, err
		}
		if runes > ask.Offset+limit {
			return b.String(), true, nil
		}
		b.WriteString(part)
		runes += utf8.RuneCountInString(part)
	}
	if !found {
		return "", false, refuse("there is nothing at seq %d", ask.From)
	}
	return b.String(), false, nil
}

// render is one event. In a stretch only what was said is shown, under a heading,
// and results stand with their calls alone.
func render(ctx context.Context, log Log, e session.Event, stretch bool) (string, error) {
	switch e.Kind {
	case session.KindMessageUser:
		m, err := session.Decode[session.Message](e)
		if err != nil || m.Message == nil {
			return "", err
		}
		return heading(e, "user", string(m.Source), stretch) + blocks(m.Message), nil
	case session.KindMessageAssistant:
		return answer(ctx, log, e, stretch)
	case session.KindToolResult:
		r, err := session.Decode[session.ToolResult](e)
		if err != nil || r.Message == nil || stretch {
			return "", err
		}
		return fmt.Sprintf("[result of %s, call %s]\n", r.Name, r.Message.CallID) + blocks(r.Message), nil
	}
	if stretch {
		return "", nil
	}
	b, err := json.Marshal(e)
	return string(b) + "\n", err
}

// answer is a model's answer with its calls and their results.
func answer(ctx context.Context, log Log, e session.Event, stretch bool) (string, error) {
	m, err := session.Decode[session.Assistant](e)
	if err != nil || m.Message == nil {
		return "", err
	}
	text := heading(e, "assistant", "", stretch) + blocks(m.Message)
	results := map[string]*session.ToolResult{}
	if err := pair(ctx, log, e.Seq, m.Message.Calls(), results); err != nil {
		return "", err
	}
	for _, c := range m.Message.Calls() {
		text += fmt.Sprintf("[call %s %s]\n%s\n", c.ID, c.Name, c.Arguments)
		r := results[c.ID]
		switch {
		case r == nil:
			text += "[no result is recorded]\n"
		case r.Message.IsError:
			text += "[result, an error]\n" + blocks(r.Message)
		default:
			text += "[result]\n" + blocks(r.Message)
		}
	}
	return text, nil
}

func heading(e session.Event, who, source string, stretch bool) string {
	if !stretch {
		return ""
	}
	if source != "" {
		who += " " + source
	}
	return fmt.Sprintf("--- seq=%d %s\n", e.Seq, who)
}

// blocks are a message's texts as they are and its other blocks as JSON; calls
// are shown apart.
func blocks(m *llm.Message) string {
	text := ""
	for _, b := range m.Blocks {
		switch b.Kind {
		case llm.BlockToolCall:
			continue
		case llm.BlockText:
			text += b.Text
		default:
			j, _ := json.Marshal(b)
			text += string(j) + "\n"
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// cut is the longest start of text of at most n bytes and whole code points.
func cut(text string, n int) string {
	if n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
