package chat

import (
	"fmt"
	"strings"
)

const (
	// A paste of more lines or bytes is shown as one piece.
	foldLines = 12
	foldBytes = 2000
	// maxInput is the most bytes of a message; the host takes no longer prompt.
	maxInput = 3 << 20
)

// piece is one character as people see it, or a folded paste.
type piece struct {
	text  string
	shown string // "" = as text
}

func (p piece) String() string {
	if p.shown != "" {
		return p.shown
	}
	return p.text
}

// editor is a text of several lines with a cursor. The zero value is empty.
type editor struct {
	pieces []piece
	at     int // the cursor stands before this piece
	size   int // bytes of text
}

// value is the text with pastes unfolded.
func (e *editor) value() string {
	var b strings.Builder
	for _, p := range e.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

func (e *editor) empty() bool { return len(e.pieces) == 0 }

func (e *editor) clear() { *e = editor{} }

func (e *editor) set(text string) {
	e.clear()
	e.paste(text)
}

// insert puts typed text at the cursor and tells whether there was room for it.
func (e *editor) insert(text string) bool {
	text = clean(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	if e.size+len(text) > maxInput {
		return false
	}
	if e.at > 0 && e.pieces[e.at-1].shown == "" && e.pieces[e.at-1].text != "\n" { // an accent joins what it follows
		e.at--
		before := e.pieces[e.at].text
		e.pieces = append(e.pieces[:e.at], e.pieces[e.at+1:]...)
		e.size -= len(before)
		text = before + text
	}
	var added []piece
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest = next(rest)
		added = append(added, piece{text: cluster})
	}
	e.put(added)
	return true
}

// paste puts pasted text at the cursor, folded where it is long.
func (e *editor) paste(text string) bool {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	lines := strings.Count(text, "\n") + 1
	if lines <= foldLines && len(text) <= foldBytes {
		return e.insert(text)
	}
	if text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"); e.size+len(text) > maxInput {
		return false
	}
	e.put([]piece{{text: text, shown: fmt.Sprintf("[pasted %d lines, %d bytes]", lines, len(text))}})
	return true
}

func (e *editor) put(added []piece) {
	tail := append([]piece(nil), e.pieces[e.at:]...)
	e.pieces = append(append(e.pieces[:e.at], added...), tail...)
	e.at += len(added)
	for _, p := range added {
		e.size += len(p.text)
	}
}

// cut takes the pieces from a to b out and leaves the cursor there.
func (e *editor) cut(a, b int) {
	for _, p := range e.pieces[a:b] {
		e.size -= len(p.text)
	}
	e.pieces = append(e.pieces[:a], e.pieces[b:]...)
	e.at = a
}

func (e *editor) isBreak(i int) bool { return e.pieces[i].text == "\n" }

func (e *editor) lineStart(i int) int {
	for i > 0 && !e.isBreak(i-1) {
		i--
	}
	return i
}

func (e *editor) lineEnd(i int) int {
	for i < len(e.pieces) && !e.isBreak(i) {
		i++
	}
	return i
}

// wordLeft and wordRight are where the word beside the cursor begins and ends.
func (e *editor) wordLeft() int {
	i := e.at
	for i > 0 && e.isSpace(i-1) {
		i--
	}
	for i > 0 && !e.isSpace(i-1) {
		i--
	}
	return i
}

func (e *editor) wordRight() int {
	i := e.at
	for i < len(e.pieces) && e.isSpace(i) {
		i++
	}
	for i < len(e.pieces) && !e.isSpace(i) {
		i++
	}
	return i
}

func (e *editor) isSpace(i int) bool { return strings.TrimSpace(e.pieces[i].text) == "" }

// up moves the cursor a line up, as far right as it stood; false on the first line.
func (e *editor) up() bool {
	start := e.lineStart(e.at)
	if start == 0 {
		return false
	}
	above := e.lineStart(start - 1)
	e.at = min(above+e.at-start, start-1)
	return true
}

// down is up the other way.
func (e *editor) down() bool {
	end := e.lineEnd(e.at)
	if end == len(e.pieces) {
		return false
	}
	column := e.at - e.lineStart(e.at)
	e.at = min(end+1+column, e.lineEnd(end+1))
	return true
}

// key does what a key does to a text and tells whether it is such a key.
func (e *editor) key(name string) bool {
	switch name {
	case "left", "ctrl+b":
		e.at = max(0, e.at-1)
	case "right", "ctrl+f":
		e.at = min(len(e.pieces), e.at+1)
	case "alt+left", "ctrl+left", "alt+b":
		e.at = e.wordLeft()
	case "alt+right", "ctrl+right", "alt+f":
		e.at = e.wordRight()
	case "home", "ctrl+a":
		e.at = e.lineStart(e.at)
	case "end", "ctrl+e":
		e.at = e.lineEnd(e.at)
	case "backspace", "ctrl+h":
		e.cut(max(0, e.at-1), e.at)
	case "delete", "ctrl+d":
		e.cut(e.at, min(len(e.pieces), e.at+1))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.cut(e.wordLeft(), e.at)
	case "alt+d", "ctrl+delete":
		e.cut(e.at, e.wordRight())
	case "ctrl+u":
		e.cut(e.lineStart(e.at), e.at)
	case "ctrl+k":
		e.cut(e.at, e.lineEnd(e.at))
	case "ctrl+j", "shift+enter":
		e.put([]piece{{text: "\n"}})
	default:
		return false
	}
	return true
}
