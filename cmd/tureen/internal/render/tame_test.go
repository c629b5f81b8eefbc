package render_test

import (
	"bytes"
	"testing"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
)

// TestC102_ALineDoesNotSteerTheTerminal: whatever text it is made of. The marks of the
// style stay, and are closed.
func TestC102_ALineDoesNotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mode, text, want string }{
		{render.ColorNever, "a\x1b[31mb\x1b]0;title\ac\x9b2J\rd\u202e", "a[31mb]0;titlec\ufffd2Jd\n"},
		{render.ColorAlways, "\x1b[1mbold\x1b[0m a\x1b[2Jb\x1b[8mc", "\x1b[1mbold\x1b[0m a[2Jb[8mc\n"},
		{render.ColorAlways, "a\x1b[31mb", "a\x1b[31mb\x1b[0m\n"},
		{render.ColorAlways, "\x1b\x1b[0m[2J", "\x1b[0m[2J\n"},
	} {
		var out bytes.Buffer
		style, err := render.NewStyle(c.mode, &out, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		render.NewLines(&out, style).Print(c.text)
		if out.String() != c.want {
			t.Errorf("%q is written as %q, want %q", c.text, out.String(), c.want)
		}
	}
}
