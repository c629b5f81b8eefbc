package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxLine bounds a line of JSON, in bytes: more than any store's event has.
const maxLine = 1 << 30

// WriteLines writes events as JSON lines, one an event. ReadLines gives back the
// same events, their payloads byte for byte, bytes that are no UTF-8 included; only
// line breaks between the parts of a payload are left out. It refuses a payload that
// is no JSON.
func WriteLines(w io.Writer, events iter.Seq2[Event, error]) error {
	var line bytes.Buffer
	for e, err := range events {
		if err != nil {
			return err
		}
		line.Reset()
		if err := writeLine(&line, e); err != nil {
			return fmt.Errorf("event %d (%s) cannot be written as a line: %w", e.Seq, e.Kind, err)
		}
		if _, err := w.Write(line.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func writeLine(line *bytes.Buffer, e Event) error {
	data := e.Data
	e.Data = nil
	enc := json.NewEncoder(line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil || len(data) == 0 {
		return err
	}
	if !json.Valid(data) {
		return errors.New("its payload is no JSON")
	}
	line.Truncate(line.Len() - len("}\n"))
	line.WriteString(`,"data":`)
	if bytes.ContainsAny(data, "\r\n") {
		if err := json.Compact(line, data); err != nil {
			return err
		}
	} else {
		line.Write(data)
	}
	line.WriteString("}\n")
	return nil
}

// LineError is a line that is no event of a log.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// ReadLines yields the events of JSON lines. It refuses, with a *LineError that is
// yielded last, what no log can be: a line that is no event, a seq that does not
// follow, a first event that is not session.created, a payload of a newer schema
// (ErrNewer), an empty file.
func ReadLines(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 64<<10), maxLine)
		n, seq := 0, int64(0)
		for lines.Scan() {
			n++
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			e, err := readLine(lines.Bytes(), seq)
			if err != nil {
				yield(Event{}, &LineError{n, err})
				return
			}
			seq = e.Seq
			if !yield(e, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case err != nil:
			yield(Event{}, &LineError{n + 1, err})
		case seq == 0:
			yield(Event{}, &LineError{n + 1, errors.New("there is no event")})
		}
	}
}

func readLine(line []byte, before int64) (Event, error) {
	var e Event
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return e, fmt.Errorf("it is no event: %w", err)
	}
	_, rest := dec.Token()
	switch {
	case rest != io.EOF:
		return e, errors.New("more than one event stands on it")
	case e.Seq != before+1:
		return e, fmt.Errorf("event %d follows event %d", e.Seq, before)
	case e.Seq == 1 && e.Kind != KindSessionCreated:
		return e, fmt.Errorf("a log begins with %s, this one with %s", KindSessionCreated, e.Kind)
	case e.V > SchemaVersion:
		return e, fmt.Errorf("schema %d, this version reads up to %d (%w); use a newer tureen", e.V, SchemaVersion, ErrNewer)
	case e.Kind == "":
		return e, errors.New("the event has no kind")
	}
	return e, nil
}
