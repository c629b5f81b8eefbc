package notes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a note.
const (
	MaxNoteBytes = 256 << 10
	MaxMapBytes  = 64 << 10
	MaxNotes     = 2000 // of one home that are listed
)

// Home is one place of notes. Paths are the canonical ones of an Address. It is
// safe for concurrent use, also by several processes. Errors are *Error.
type Home interface {
	Kind() Kind
	// Where is the directory, for people; it need not exist. It is "" for a project
	// that has no home yet.
	Where() string
	// List tells of all notes without reading them, by path. A home that does not
	// exist yet is empty; one that cannot be read is an error.
	List(ctx context.Context) (Listing, error)
	// Read returns a note whole.
	Read(ctx context.Context, path string) (Note, error)
	// Update replaces a note by what change makes of it, while nobody else can
	// write the home. old is nil where there is no such note. When Update
	// returns without an error the text is on the disk. change's error is
	// returned as it is and leaves everything alone. The old text is kept as a
	// version that ended by by, but for Appended.
	Update(ctx context.Context, path string, by By, change func(old *Note) (string, error)) (Change, error)
	// Move renames a note inside the home; to = "" puts it into the trash. In both
	// cases a version of the old path is kept.
	Move(ctx context.Context, path, to string, check func(old *Note) error) (Change, error)
	// Versions yields the versions of a note, the present one first, then the one
	// that ended last; or, for path "", those of all notes. An error is yielded last.
	Versions(ctx context.Context, path string) iter.Seq2[Version, error]
}

// Info is what a directory tells of a note.
type Info struct {
	Path    string
	Bytes   int64
	Written time.Time
}

// Listing is the notes of a home. Skipped tells of entries that are no notes or
// are refused; More is true where MaxNotes cut the listing.
type Listing struct {
	Notes   []Info
	Skipped []Skipped
	More    bool
}

// Skipped is an entry of a home that is not shown, and why.
type Skipped struct{ Path, Why string }

// Note is a note with its text.
type Note struct {
	Info
	Text string
	Rev  string // first 8 hex digits of the text's SHA-256
}

// CodePoints counts the text's code points.
func (n Note) CodePoints() int { return utf8.RuneCountInString(n.Text) }

// Lines counts the text's lines; a last line need not end in a line feed.
func (n Note) Lines() int { return lineCount(n.Text) }

// Title is the first line that is not blank, at most 80 code points of it.
func (n Note) Title() string {
	for line := range strings.Lines(n.Text) {
		if line = strings.TrimSpace(line); line != "" {
			return Head(line, 80)
		}
	}
	return ""
}

// Change is what a mutation came to. Before is nil where there was no note, After
// where there is none left.
type Change struct {
	Before, After *Note
	Changed       bool
}

// Rev is the revision of a text.
func Rev(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// Head is the first n code points of text.
func Head(text string, n int) string {
	at := 0
	for range n {
		if at >= len(text) {
			return text
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at]
}

func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func isMap(path string) bool { return path == MapName }

// checkText refuses what is no note.
func checkText(path, text string) error {
	limit := MaxNoteBytes
	if isMap(path) {
		limit = MaxMapBytes
	}
	switch {
	case len(text) > limit:
		return Refuse(CodeTooLarge, "shorten it, or put a part into another note", "the note would have %d bytes, %d are allowed", len(text), limit)
	case !isText(text):
		return Refuse(CodeBinary, "write plain UTF-8 text", "the text is not UTF-8, or holds NUL")
	}
	return nil
}

func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }
