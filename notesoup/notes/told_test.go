package notes_test

import (
	"testing"

	"github.com/tureen-host/tureen/notesoup/notes"
)

func TestN8_AReceiptReadsBackAsWhatWasDone(t *testing.T) {
	t.Parallel()
	s, _, _ := store(t)
	check := func(r notes.Receipt, err error, want notes.Told, told bool) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := notes.ReadReceipt(r.String()); ok != told || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", r, got, ok, want)
		}
	}
	rev := notes.Rev
	r, err := s.Write(t.Context(), notes.Write{Path: "my plan", Text: "one\n", Mode: notes.Append})
	check(r, err, notes.Told{Address: "my plan.md", By: notes.Written, Rev: rev("one\n"), CodePoints: 4}, true)
	r, err = s.Write(t.Context(), notes.Write{Path: "my plan", Text: "zwä", Mode: notes.Append})
	check(r, err, notes.Told{Address: "my plan.md", By: notes.Appended, Rev: rev("one\nzwä"), Was: rev("one\n"), CodePoints: 7}, true)
	r, err = s.Write(t.Context(), notes.Write{Path: "my plan", Mode: notes.Append})
	check(r, err, notes.Told{}, false)
	r, err = s.Edit(t.Context(), "my plan", []notes.Edit{{Old: "one", New: "1"}}, "")
	check(r, err, notes.Told{Address: "my plan.md", By: notes.Edited, Rev: rev("1\nzwä"), Was: rev("one\nzwä"), CodePoints: 5}, true)
	r, err = s.Move(t.Context(), "my plan", "a b/c", "")
	check(r, err, notes.Told{Address: "my plan.md", By: notes.Moved, MovedTo: "a b/c.md", Rev: rev("1\nzwä"), Was: rev("1\nzwä"), CodePoints: 5}, true)
	r, err = s.Move(t.Context(), "a b/c", notes.Trash, "")
	check(r, err, notes.Told{Address: "a b/c.md", By: notes.Deleted, Was: rev("1\nzwä")}, true)
	for _, line := range []string{"", "ok", "ok notes_write", "E_REV: no", `ok notes_write "unclosed rev=1`, "ok notes_list x rev=1", `ok notes_write "\q" rev=1`} {
		if got, ok := notes.ReadReceipt(line); ok {
			t.Errorf("%q reads as %+v", line, got)
		}
	}
}
