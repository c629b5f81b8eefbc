package shell

import (
	"os"
	"strings"
	"testing"
	"time"
)

// What a command has printed is not lost where nobody came to read it in time, even
// though the pipe is still held open.
func TestC092_WhatIsInThePipeIsRead(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	want := strings.Repeat("printed\n", 5000)
	if _, err := w.WriteString(want); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	o := newOutput(64_000, false)
	o.copyFrom(r, o.stdout)
	if got := o.stdout.all(); got.text != strings.TrimSpace(want) || got.lost != 0 || o.both.size() != int64(len(want)) {
		t.Errorf("%d bytes of %d, %d lost", len(got.text), len(want), got.lost)
	}
}
