package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/session"
)

func all(events ...session.Event) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func read(t rapid.TB, text []byte) ([]session.Event, error) {
	t.Helper()
	var events []session.Event
	for e, err := range session.ReadLines(bytes.NewReader(text)) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func first() session.Event {
	e := session.New(session.KindSessionCreated, session.Created{ID: "s", Workspace: "/w"})
	e.Seq, e.Time = 1, time.Unix(5, 123456789).UTC()
	return e
}

// roundTrips writes, reads, and writes again.
func roundTrips(t rapid.TB, events ...session.Event) {
	t.Helper()
	var text, again bytes.Buffer
	if err := session.WriteLines(&text, all(events...)); err != nil {
		t.Fatal(err)
	}
	back, err := read(t, text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if !bytes.Equal(back[i].Data, e.Data) {
			t.Fatalf("the payload of event %d came back as another", e.Seq)
		}
		e.Data, back[i].Data = nil, nil
		if !reflect.DeepEqual(back[i], e) {
			t.Fatalf("%+v came back as %+v", e, back[i])
		}
		back[i].Data = events[i].Data
	}
	if err := session.WriteLines(&again, all(back...)); err != nil || !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Fatalf("the second copy is another: %v", err)
	}
}

// TestX1_C083_LinesKeepEveryPayload byte for byte, whatever the text in it.
func TestX1_C083_LinesKeepEveryPayload(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"escaped nul":      `{"t":"a\u0000b"}`,
		"lone surrogates":  `{"t":"\ud800 \udfff\ud800"}`,
		"surrogate pair":   `{"t":"\ud83d\ude00 😀"}`,
		"ansi and osc":     `{"t":"\u001b[31mred\u001b]0;title\u0007"}`,
		"line separators":  "{\"t\":\"\u2028\u2029\u0085 \\n \\r\"}",
		"angle brackets":   `{"t":"<&> \u003c"}`,
		"big numbers":      `{"n":123456789012345678901234567890,"f":1e400}`,
		"twice the name":   `{"a":1,"a":2}`,
		"not an object":    `"text"`,
		"null":             `null`,
		"family":           `{"t":"👨‍👩‍👧‍👦 é"}`,
		"no UTF-8":         "{\"t\":\"\xff\xfe\"}",
		"bytes of half":    "{\"t\":\"\xed\xa0\x80\"}",
		"spaces":           "{ \"t\" :\t1 }",
		"thirty megabytes": `{"t":"` + strings.Repeat("0123456789", 3<<20) + `"}`,
		"deep":             strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		e := session.Event{Seq: 2, V: 1, Time: time.Unix(0, 1).UTC(), Kind: "x", Turn: 3, Step: 4, Op: &session.Op{Kind: session.OpInsert, After: 1}, Data: json.RawMessage(data)}
		t.Run(name, func(t *testing.T) { roundTrips(t, first(), e) })
	}
	roundTrips(t, first(), session.Event{Seq: 2, V: 1, Kind: "without.payload"})
}

func TestX1_LinesKeepAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		e := session.New(session.Kind("k"+rapid.StringMatching(`[a-z.]*`).Draw(rt, "kind")), map[string]string{text: text})
		e.Seq, e.Turn = 2, rapid.Int().Draw(rt, "turn")
		roundTrips(rt, first(), e)
	})
}

// TestX1_LinesRefuseWhatTheyCouldNotGiveBack: a payload that is no JSON is refused
// in both directions.
func TestX1_LinesRefuseWhatTheyCouldNotGiveBack(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"cut": `{"t":`, "raw nul": "{\"t\":\"\x00\"}", "raw line break": "{\"t\":\"\n\"}", "two": `1 2`, "closed too early": `1},{"x":2`,
	} {
		var out bytes.Buffer
		e := session.Event{Seq: 2, V: 1, Kind: "x", Data: json.RawMessage(data)}
		if err := session.WriteLines(&out, all(first(), e)); err == nil || !strings.Contains(err.Error(), "event 2 (x)") {
			t.Errorf("%s is written: %v", name, err)
		}
		out.WriteString(`{"seq":2,"v":1,"time":"2026-01-01T00:00:00Z","kind":"x","data":` + data + "}\n")
		var at *session.LineError
		if _, err := read(t, out.Bytes()); !errors.As(err, &at) || at.Line != 2 {
			t.Errorf("%s is read: %v", name, err)
		}
	}
	e := session.Event{Seq: 2, V: 1, Kind: "x", Data: json.RawMessage("{\n \"t\" :\r\n 1\n}")}
	var out bytes.Buffer
	if err := session.WriteLines(&out, all(first(), e)); err != nil {
		t.Fatal(err)
	}
	if back, err := read(t, out.Bytes()); err != nil || string(back[1].Data) != `{"t":1}` {
		t.Errorf("over several lines: %v", err)
	}
}

func TestX1_LinesNameTheLineThatIsWrong(t *testing.T) {
	t.Parallel()
	const one = `{"seq":1,"v":1,"time":"2026-01-01T00:00:00Z","kind":"session.created","data":{"id":"s"}}` + "\n"
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"empty":          {"", 1, "no event"},
		"blank":          {"\n \n", 3, "no event"},
		"no JSON":        {one + "hello\n", 2, "no event"},
		"cut":            {one + `{"seq":2,"v":1,"ti`, 2, "no event"},
		"gap":            {one + "\n" + `{"seq":3,"v":1,"time":"2026-01-01T00:00:00Z","kind":"x"}`, 3, "follows event 1"},
		"twice":          {one + one, 2, "follows"},
		"wrong start":    {`{"seq":1,"v":1,"time":"2026-01-01T00:00:00Z","kind":"x"}`, 1, "begins with"},
		"newer":          {one + `{"seq":2,"v":99,"time":"2026-01-01T00:00:00Z","kind":"x"}`, 2, "newer"},
		"two on a line":  {strings.TrimSpace(one) + `{"seq":2}`, 1, "more than one"},
		"unknown member": {one + `{"seq":2,"v":1,"time":"2026-01-01T00:00:00Z","kind":"x","extra":1}`, 2, "extra"},
		"no kind":        {one + `{"seq":2,"v":1,"time":"2026-01-01T00:00:00Z"}`, 2, "kind"},
		"rubbish behind": {strings.TrimSpace(one) + ` ]`, 1, "more than one"},
	} {
		_, err := read(t, []byte(c.text))
		var at *session.LineError
		if !errors.As(err, &at) || at.Line != c.line || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := read(t, []byte(one+`{"seq":2,"v":99,"time":"2026-01-01T00:00:00Z","kind":"x"}`)); !errors.Is(err, session.ErrNewer) {
		t.Errorf("%v", err)
	}
	boom := errors.New("boom")
	if err := session.WriteLines(new(bytes.Buffer), func(yield func(session.Event, error) bool) { yield(session.Event{}, boom) }); !errors.Is(err, boom) {
		t.Error(err)
	}
}

// FuzzReadLines: whatever is read is written again as the same events.
func FuzzReadLines(f *testing.F) {
	f.Add([]byte(`{"seq":1,"v":1,"time":"2026-01-01T00:00:00Z","kind":"session.created","data":{"id":"s"}}` + "\n" + `{"seq":2,"v":1,"time":"2026-01-01T00:00:00Z","kind":"x","data":"\ud800"}`))
	f.Add([]byte("\xff\x00{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		events, _ := read(t, text)
		if len(events) == 0 {
			return
		}
		var out bytes.Buffer
		if err := session.WriteLines(&out, all(events...)); err != nil {
			t.Fatal(err)
		}
		back, err := read(t, out.Bytes())
		if err != nil || len(back) != len(events) {
			t.Fatalf("%d of %d events, %v", len(back), len(events), err)
		}
		var again bytes.Buffer
		if err := session.WriteLines(&again, all(back...)); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Fatalf("the copy is another: %v", err)
		}
	})
}

// endless gives the same byte for ever, behind a beginning, and counts.
type endless struct {
	first string
	then  byte
	given int
}

func (r *endless) Read(b []byte) (int, error) {
	n := copy(b, r.first)
	r.first = r.first[n:]
	for i := n; i < len(b); i++ {
		b[i] = r.then
	}
	r.given += len(b)
	return len(b), nil
}

// TestC102_ALineWithoutAnEnd is refused before it is read: where it cannot be an event
// at once, else within bounds.
func TestC102_ALineWithoutAnEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   *endless
		most int
		line int
		want string
	}{
		{&endless{then: 0}, 1 << 20, 1, `begins with '\x00'`},
		{&endless{first: "\n \n", then: 'x'}, 1 << 20, 3, `begins with 'x'`},
	} {
		var line *session.LineError
		for _, err := range session.ReadLines(c.in) {
			if !errors.As(err, &line) || line.Line != c.line || !strings.Contains(err.Error(), c.want) || c.in.given > c.most {
				t.Errorf("%v after %d bytes, want %q", err, c.in.given, c.want)
			}
		}
		if line == nil {
			t.Errorf("%q: no error", c.want)
		}
	}
	in := &endless{first: `{"seq":1,"kind":"`, then: 'x'}
	if err := session.LineOf(in, 1<<20); err == nil || err.Error() != "it has no end within 1 MiB" || in.given > 2<<20 {
		t.Errorf("%v after %d bytes", err, in.given)
	}
}
