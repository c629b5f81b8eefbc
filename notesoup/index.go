package notesoup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// Bounds of the index: its own size, how many of the newest events it is made of
// and how many bytes of them, and what one line shows.
const (
	MaxIndexTokens = 2000
	MaxIndexed     = 160
	maxIndexBytes  = 256 << 10
	maxIndexFiles  = 20
	lineShown      = 160 // code points
	errorShown     = 400
)

// Item is a line of the index.
type Item struct {
	Seq  int64
	Text string
}

// Index is what a checkpoint tells of the newest part of the log, by who said it;
// the newest first. It is made from the log each time, never from another index.
type Index struct {
	Files []Item // that calls have written, by the newest call
	Error *Item  // the newest that a tool returned
	Owner []Item
	Agent []Item
}

// index reads the newest part of the log, however long that is (N18, carry = "request").
func index(ctx context.Context, log session.Access) (Index, error) {
	x := Index{}
	failed, files := map[string]bool{}, map[string]bool{}
	looked, size := 0, 0
	for e, err := range newest(ctx, log, 16, 0, session.KindMessageUser, session.KindMessageAssistant, session.KindToolResult) {
		if err != nil {
			return Index{}, fmt.Errorf("notesoup: make the index from the log: %w", err)
		}
		if looked++; looked > MaxIndexed || size > maxIndexBytes {
			break
		}
		size += len(e.Data)
		switch e.Kind {
		case session.KindMessageUser:
			x.said(e)
		case session.KindMessageAssistant:
			x.did(e, failed, files)
		case session.KindToolResult:
			x.returned(e, failed)
		}
	}
	return x, nil
}

func (x *Index) said(e session.Event) {
	m, err := session.Decode[session.Message](e)
	if err == nil && m.Message != nil && (m.Source == session.SourceOwner || m.Source == session.SourceSteer) {
		x.Owner = append(x.Owner, Item{e.Seq, shown(m.Message.Text(), lineShown)})
	}
}

func (x *Index) did(e session.Event, failed, files map[string]bool) {
	m, err := session.Decode[session.Assistant](e)
	if err != nil || m.Message == nil {
		return
	}
	if text := shown(m.Message.Text(), lineShown); text != "" {
		x.Agent = append(x.Agent, Item{e.Seq, text})
	}
	for _, c := range m.Message.Calls() {
		if file := wrote(c); file != "" && !failed[c.ID] && !files[file] && len(x.Files) < maxIndexFiles {
			files[file] = true
			x.Files = append(x.Files, Item{e.Seq, c.Name + " " + file})
		}
	}
}

func (x *Index) returned(e session.Event, failed map[string]bool) {
	r, err := session.Decode[session.ToolResult](e)
	if err != nil || r.Message == nil || !r.Message.IsError {
		return
	}
	failed[r.Message.CallID] = true
	if x.Error == nil && !strings.HasPrefix(r.Name, "notes_") && !strings.HasPrefix(r.Name, "history_") {
		x.Error = &Item{e.Seq, r.Name + ": " + shown(r.Message.Text(), errorShown)}
	}
}

// wrote is the file that a call writes, as far as its name and arguments tell.
func wrote(c llm.ToolCall) string {
	if strings.HasPrefix(c.Name, "notes_") || !strings.Contains(c.Name, "write") && !strings.Contains(c.Name, "edit") && !strings.Contains(c.Name, "patch") {
		return ""
	}
	var args struct {
		Path string `json:"path"`
		File string `json:"file_path"`
	}
	_ = json.Unmarshal([]byte(c.Arguments), &args)
	return shown(args.Path+args.File, lineShown)
}

// shown is the start of a text on one line.
func shown(text string, n int) string { return notes.Head(oneLine(notes.Head(text, 4*n)), n) }

// String is the index as a checkpoint shows it, without the entries of said, which
// stand there word for word; "" where nothing is left. Of what does not fit the
// oldest goes.
func (x Index) String(said []Said) string {
	room := MaxIndexTokens - llm.EstimateText(indexOpen+indexClose)
	take := func(heading string, items []Item) string {
		var lines []string
		cost := llm.EstimateText(heading)
		for _, it := range items {
			line := fmt.Sprintf("- seq=%d %s\n", it.Seq, quote(it.Text))
			if cost += llm.EstimateText(line); cost > room {
				break
			}
			lines = append(lines, line)
		}
		if len(lines) == 0 {
			return ""
		}
		for _, line := range append(lines, heading) {
			room -= llm.EstimateText(line)
		}
		slices.Reverse(lines)
		return heading + strings.Join(lines, "")
	}
	owner := slices.DeleteFunc(slices.Clone(x.Owner), func(it Item) bool {
		return slices.ContainsFunc(said, func(s Said) bool { return s.Seq == it.Seq })
	})
	var newest []Item
	if x.Error != nil {
		newest = []Item{*x.Error}
	}
	// each class may fill what the ones before it left
	text := take("Files that calls of yours wrote:\n", x.Files) + take("The last error that a tool returned:\n", newest) +
		take("The owner said before, for looking up and not to be taken up again:\n", owner) + take("You said:\n", x.Agent)
	if text == "" {
		return ""
	}
	return indexOpen + text + indexClose
}

const (
	indexOpen  = "Put together from the log, where history_read shows each entry whole by its seq:\n<log>\n"
	indexClose = "</log>"
)
