// Package notesoup is the strategy that keeps nothing of the conversation: the
// agent keeps notes, and every window begins with a notebook made from them. A
// reset makes no model call.
package notesoup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// Name is the name of the plugin, under which its records are kept.
const Name = "notesoup"

// RecordWindow is the kind of the record that keeps a window. The newest counts.
const RecordWindow = "window"

// The boot's place in the system prompt (N2).
const (
	SectionID    = "notesoup/boot"
	SectionOrder = 2450
)

// Window is the stretch between two resets. Its boot is frozen.
type Window struct {
	Ordinal int       `json:"ordinal"` // from 1
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`   // when its boot was made
	Digest  string    `json:"digest"` // hex SHA-256 of Boot
	Boot    string    `json:"boot"`
	// Note is what the agent left with empty_brain.
	Note string `json:"note,omitempty"`
	// Agent, Model and Project say whose notes the boot shows, Identity which project
	// all of the window belongs to; Config is a fingerprint of the strategy's own keys.
	Agent    string          `json:"agent,omitempty"`
	Model    string          `json:"model,omitempty"`
	Project  string          `json:"project,omitempty"`
	Identity *notes.Identity `json:"identity,omitempty"`
	Config   string          `json:"config,omitempty"`
}

// NewWindow names the window of an ordinal; its Boot is still to be made.
func NewWindow(session string, ordinal int, at time.Time) Window {
	at = at.UTC().Truncate(time.Second)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", session, ordinal, at.Unix()))
	return Window{Ordinal: ordinal, ID: fmt.Sprintf("w%d-%s", ordinal, hex.EncodeToString(sum[:3])), Time: at}
}

// WithBoot is the window with its frozen text.
func (w Window) WithBoot(boot string) Window {
	w.Boot, w.Digest = boot, digest(boot)
	return w
}

// Intact tells whether the boot is what the digest was made of.
func (w Window) Intact() bool { return w.Ordinal > 0 && w.Boot != "" && w.Digest == digest(w.Boot) }

// Section shows the boot.
func (w Window) Section() compaction.Section {
	return compaction.Section{ID: SectionID, Order: SectionOrder, Text: w.Boot}
}

// Record keeps the window in the log.
func (w Window) Record() compaction.Record {
	data, err := json.Marshal(w)
	if err != nil {
		panic(fmt.Sprintf("notesoup: a window is always JSON: %v", err))
	}
	return compaction.Record{Kind: RecordWindow, Data: data}
}

// The marks around a boot, by which a lost window is found again (N19).
const (
	bootOpen  = "<notebook "
	bootClose = "</notebook>"
)

func (w Window) header() string {
	return fmt.Sprintf("%swindow=\"%d\" id=%q time=%q>", bootOpen, w.Ordinal, w.ID, w.Time.Format(time.RFC3339))
}

// FindWindow reads a window back from a text that holds its boot: the boot that a
// compaction stored, or a whole system message.
func FindWindow(text string) (Window, bool) {
	from := strings.Index(text, bootOpen)
	if from < 0 {
		return Window{}, false
	}
	length := strings.Index(text[from:], bootClose)
	if length < 0 {
		return Window{}, false
	}
	boot := text[from : from+length+len(bootClose)]
	head, _, _ := strings.Cut(boot, ">")
	var w Window
	for _, pair := range strings.Fields(strings.TrimPrefix(head, bootOpen)) {
		key, quoted, _ := strings.Cut(pair, "=")
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return Window{}, false
		}
		switch key {
		case "window":
			w.Ordinal, _ = strconv.Atoi(value)
		case "id":
			w.ID = value
		case "time":
			w.Time, _ = time.Parse(time.RFC3339, value)
		}
	}
	w = w.WithBoot(boot)
	return w, w.Ordinal > 0 && w.ID != ""
}

func digest(boot string) string {
	sum := sha256.Sum256([]byte(boot))
	return hex.EncodeToString(sum[:])
}
