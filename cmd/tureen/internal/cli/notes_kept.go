package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tureen-host/tureen/notesoup/notes"
)

// kept says why a text was not written, where it is and what to do.
func (e *noteEdit) kept(err error, file string) error {
	f := faultOf(noteFault(err))
	write := e.desk.command("edit", e.at.String())
	switch notes.CodeOf(err) {
	case notes.CodeRev, notes.CodeExists:
		now, _ := e.now()
		f.Hint = "merge what " + e.desk.command("show", e.at.String()) + " prints into that file, then " + write + " --if-rev " + now + " --from " + shellWord(file)
		if now == "" {
			f.Hint = write + " --from " + shellWord(file) + " makes it again"
		}
		f.Message = fmt.Sprintf("%s was changed by somebody else meanwhile (rev=%s when you began, %s now)", e.at, cmp.Or(e.rev, "none"), cmp.Or(now, "none"))
	case notes.CodeTooLarge, notes.CodeBinary:
		f.Hint = "mend the text, then " + write + " --from " + shellWord(file)
	default:
		f.Hint = write + " --from " + shellWord(file) + " tries again"
	}
	f.Message += "; your text is in " + file
	return f
}

// now is the revision of the note at this moment, "" where there is none.
func (e *noteEdit) now() (rev string, err error) {
	err = e.desk.open(func(s *notes.Store) error {
		_, n, err := s.Read(context.Background(), e.address)
		rev = n.Rev
		return err
	})
	return rev, err
}

// keepText saves a text in a private file.
func keepText(name, text string) (file string, err error) {
	dir, err := os.MkdirTemp("", "tureen-note-")
	if err != nil {
		return "", err
	}
	if file, err = filepath.Abs(filepath.Join(dir, name)); err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	return file, err
}
