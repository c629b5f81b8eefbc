package chat

import (
	"strings"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/llm"
)

// maxThought is the most bytes of reasoning that are kept to show.
const maxThought = 4096

// stream is an answer on its way. Its rows go into the scrollback as they are full;
// only the last one is alive.
type stream struct {
	seen    strings.Builder // all text so far
	tail    string          // what is not printed yet
	begun   bool            // a row was printed
	thought strings.Builder // the beginning of the reasoning
	thinks  int             // characters of the reasoning
	latest  string          // the end of the reasoning
	folded  bool            // its line was printed
}

// delta takes a piece of an answer.
func (m *model) delta(kind llm.BlockKind, text string) {
	text = clean(text)
	switch kind {
	case llm.BlockReasoning:
		m.stream.think(text)
	case llm.BlockText:
		m.stream.seen.WriteString(text)
		m.say(text)
	}
}

func (s *stream) think(text string) {
	s.thinks += len([]rune(text))
	if s.thought.Len() < maxThought {
		s.thought.WriteString(text)
	}
	s.latest += text
	if n := len(s.latest) - 400; n > 0 {
		s.latest = strings.ToValidUTF8(s.latest[n:], "")
	}
}

// say adds text to the answer and prints the rows that are full.
func (m *model) say(text string) {
	s := &m.stream
	s.tail += text
	if !s.begun {
		s.tail = strings.TrimLeft(s.tail, "\n ")
		if s.tail == "" {
			return
		}
		m.foldThought()
	}
	rows := wrap(s.tail, m.textWidth())
	if len(rows) < 2 {
		return
	}
	m.beginAnswer()
	m.print(rows[:len(rows)-1]...)
	s.tail = rows[len(rows)-1]
}

func (m *model) beginAnswer() {
	if !m.stream.begun {
		m.block(blockAnswer)
		m.stream.begun = true
	}
}

// foldThought prints one line for the reasoning, once.
func (m *model) foldThought() {
	s := &m.stream
	if s.thinks == 0 || s.folded {
		return
	}
	s.folded = true
	m.block(blockNotice)
	count := " (" + render.Amount(s.thinks) + " chars)"
	m.print(m.o.Style.Faint("∴ " + oneLine(s.thought.String(), m.textWidth()-2-cells(count)) + count))
}

// answered ends the stream with what the log has of the answer.
func (m *model) answered(message *llm.Message) {
	if m.stream.thinks == 0 {
		m.stream.think(clean(message.Reasoning()))
	}
	m.foldThought()
	text := clean(message.Text())
	if rest, ok := strings.CutPrefix(text, m.stream.seen.String()); ok {
		m.say(rest)
	}
	m.breakOff()
}

// breakOff prints what is left of the answer and ends it.
func (m *model) breakOff() {
	m.foldThought()
	if tail := strings.TrimRight(m.stream.tail, " \n"); tail != "" {
		m.beginAnswer()
		m.print(tail)
	}
	m.stream = stream{}
}

// alive are the rows of the answer that is being written.
func (s *stream) alive(m *model) []string {
	switch {
	case strings.TrimSpace(s.tail) != "":
		row := fit(s.tail, m.textWidth())
		if !s.begun {
			return []string{"", row}
		}
		return []string{row}
	case s.thinks > 0 && !s.folded:
		latest := strings.Join(strings.Fields(s.latest), " ")
		for width := m.textWidth() - 3; cells(latest) > width && latest != ""; {
			_, latest = next(latest)
		}
		return []string{"", m.o.Style.Faint("∴ " + latest)}
	}
	return nil
}
