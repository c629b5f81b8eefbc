package notesoup

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// MaxReceipts is how many write receipts of the previous window a boot shows.
const MaxReceipts = 5

// bootShare is the part of the usable window that a boot may fill, as 1/bootShare.
const bootShare = 4

//go:embed prompts/rules.md
var rules string

// BootInput is all that a boot is made of.
type BootInput struct {
	Window   Window // ordinal, id and time
	Homes    []notes.Snapshot
	Receipts []string // write receipts of the previous window, oldest first
	// Usable is the tokens of a window up to its line; 0 where they are unknown
	// or the boot is not to be shortened.
	Usable int
}

// Boot is the text that a window starts with (N2, N6, N7). It is a pure function:
// equal inputs give equal bytes. A text that would fill more than a quarter of
// the window is shortened in a fixed order and says so.
func Boot(in BootInput) string {
	var s shape
	text := s.render(in)
	for _, step := range shortenings {
		if in.Usable <= 0 || llm.EstimateText(text) <= in.Usable/bootShare {
			break
		}
		s = step.apply(s)
		s.told = append(s.told, step.tell)
		text = s.render(in)
	}
	return text
}

// shape is how much of its inputs a boot shows.
type shape struct {
	noHeads bool
	noLists bool
	maps    [5]int // code points of a MAP by index of its home, 0 = notes.MapShown
	told    []string
}

// shortening is one step of making a boot smaller.
type shortening struct {
	tell  string
	apply func(shape) shape
}

var shortenings = func() []shortening {
	steps := []shortening{
		{"the heads of recent notes", func(s shape) shape { s.noHeads = true; return s }},
		{"the lists of recent notes", func(s shape) shape { s.noLists = true; return s }},
	}
	for _, length := range []int{1024, 256} {
		for _, home := range []int{4, 3, 2, 1, 0} { // @model, @self, @human, @project, the session
			steps = append(steps, shortening{fmt.Sprintf("%s after %d characters", mapNames[home], length),
				func(s shape) shape { s.maps[home] = length; return s }})
		}
	}
	return steps
}()

var mapNames = [5]string{"MAP", "@project/MAP", "@human/MAP", "@self/MAP", "@model/MAP"}

func (s shape) render(in BootInput) string {
	var b strings.Builder
	b.WriteString(in.Window.header() + "\n" + strings.TrimSpace(rules) + "\n\nHomes\n")
	for _, h := range in.Homes {
		b.WriteString("- " + place(h) + "\n")
	}
	if len(s.told) > 0 {
		fmt.Fprintf(&b, "\nLeft out to save room, in this order: %s. notes_list and notes_read show all of it.\n", strings.Join(s.told, "; "))
	}
	for i, h := range in.Homes {
		s.home(&b, i, h)
	}
	if r := in.Receipts; len(r) > 0 {
		b.WriteString("\nSaved in the previous window\n")
		for _, line := range r[max(0, len(r)-MaxReceipts):] {
			b.WriteString("- " + escape(oneLine(line)) + "\n")
		}
	}
	b.WriteString(bootClose)
	return strings.ToValidUTF8(b.String(), "\uFFFD") // a path may be any bytes
}

// place tells where a home is and what is in it.
func place(h notes.Snapshot) string {
	name := homeName(h.Kind)
	if h.Absent != "" {
		return fmt.Sprintf("%s: none here, %s", name, h.Absent)
	}
	if h.Where == "" {
		return name + ": empty, its first note makes a place for it"
	}
	text := fmt.Sprintf("%s: %s, ", name, escape(h.Where))
	switch h.Total {
	case 0:
		text += "empty"
	case 1:
		text += "1 note"
	default:
		text += fmt.Sprintf("%d notes", h.Total)
	}
	if n := len(h.Skipped); n > 0 {
		text += fmt.Sprintf(", %d refused", n)
	}
	if h.Warning != "" {
		text += "; " + escape(oneLine(h.Warning))
	}
	return text
}

func homeName(k notes.Kind) string {
	if k == notes.Session {
		return "this session"
	}
	return "@" + string(k)
}

// home shows a home's MAP and the notes that were written last.
func (s shape) home(b *strings.Builder, i int, h notes.Snapshot) {
	if h.Map == nil && (len(h.Recent) == 0 || s.noLists) && len(h.Skipped) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n", homeName(h.Kind))
	if h.Map != nil {
		limit := notes.MapShown
		if i < len(s.maps) && s.maps[i] > 0 {
			limit = s.maps[i]
		}
		excerpt(b, h, *h.Map, limit)
	}
	if len(h.Recent) > 0 && !s.noLists {
		b.WriteString("Written last\n")
		for _, n := range h.Recent {
			fmt.Fprintf(b, "- %s\n", about(h, n))
			if !s.noHeads {
				excerpt(b, h, n, notes.HeadShown)
			}
		}
	}
	for _, sk := range h.Skipped[:min(len(h.Skipped), 3)] {
		fmt.Fprintf(b, "Not shown: %s (%s)\n", escape(oneLine(h.Address(sk.Path))), escape(oneLine(sk.Why)))
	}
}

// about is a note's address, revision, size and time.
func about(h notes.Snapshot, n notes.Note) string {
	return fmt.Sprintf("%s rev=%s cp=%d written=%s", h.Address(n.Path), n.Rev, n.CodePoints(), n.Written.UTC().Format(time.RFC3339))
}

// excerpt fences the first limit code points of a note as data, and says where to
// read on.
func excerpt(b *strings.Builder, h notes.Snapshot, n notes.Note, limit int) {
	shown := notes.Head(n.Text, limit)
	fmt.Fprintf(b, "<note address=%q rev=%q>\n%s", h.Address(n.Path), n.Rev, escape(shown))
	if shown != "" && !strings.HasSuffix(shown, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString("</note>\n")
	if len(shown) < len(n.Text) {
		fmt.Fprintf(b, "(the first %d of %d characters; notes_read path=%q from=%d shows the rest)\n",
			limit, n.CodePoints(), h.Address(n.Path), strings.Count(shown, "\n")+1)
	}
}

// escape keeps a text from writing what a note must not: the tags around a note and
// around the boot.
func escape(text string) string { return compaction.Escape(text, "note*") }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
