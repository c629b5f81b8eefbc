package search

import (
	"bytes"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/session"
)

// Hit is a text in which the words were found: where they stand first in it, with
// what stands around them on their line.
type Hit struct {
	Session string       `json:"session"`
	Seq     int64        `json:"seq"`
	Time    time.Time    `json:"time"`
	Turn    int          `json:"turn"`
	Step    int          `json:"step"`
	Kind    session.Kind `json:"kind"`
	Part    Part         `json:"part"`
	Tool    string       `json:"tool,omitempty"`
	Before  string       `json:"before"`
	Match   string       `json:"match"`
	After   string       `json:"after"`
	Matches int          `json:"matches"` // in this text
}

const (
	runesBefore = 40
	runesAfter  = 80
)

// In finds what an event says of the words, in some parts. The hits have no Session.
func (m *Matcher) In(e session.Event, parts []Part) []Hit {
	if !m.May(e.Data) {
		return nil
	}
	var hits []Hit
	for _, t := range texts(e) {
		if !slices.Contains(parts, t.part) {
			continue
		}
		for _, form := range t.forms {
			if hit, ok := m.look([]byte(form)); ok {
				hit.Seq, hit.Time, hit.Turn, hit.Step, hit.Kind, hit.Part, hit.Tool = e.Seq, e.Time, e.Turn, e.Step, e.Kind, t.part, t.tool
				hits = append(hits, hit)
				break
			}
		}
	}
	return hits
}

func (m *Matcher) look(text []byte) (Hit, bool) {
	from, to := m.Find(text)
	if from < 0 {
		return Hit{}, false
	}
	hit := Hit{Before: before(text[:from]), Match: string(text[from:to]), After: after(text[to:]), Matches: 1}
	for rest := text[to:]; ; hit.Matches++ {
		_, end := m.Find(rest)
		if end < 0 {
			return hit, true
		}
		rest = rest[end:]
	}
}

// before is the end of a text, as far as its last line goes.
func before(text []byte) string {
	text = text[bytes.LastIndexByte(text, '\n')+1:]
	at := len(text)
	for range runesBefore {
		_, n := utf8.DecodeLastRune(text[:at])
		at -= n
	}
	if at > 0 {
		return "…" + string(text[at:])
	}
	return string(text)
}

// after is the beginning of a text, as far as its first line goes.
func after(text []byte) string {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	at := 0
	for range runesAfter {
		_, n := utf8.DecodeRune(text[at:])
		at += n
	}
	if at < len(text) {
		return string(text[:at]) + "…"
	}
	return string(text)
}
