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

// maxLine bounds a line of JSON, in bytes. The largest that an event holds is a result
// of 64 MiB, of which JSON writes each byte as six where it is worst.
const maxLine = 6*64<<20 + 1<<20

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
// (ErrNewer), an empty file. What does not begin as an event does is not read on.
func ReadLines(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewReaderSize(r, 64<<10)
		n, seq := 0, int64(0)
		var line []byte
		for {
			n++
			var err error
			if line, err = nextLine(lines, line[:0], maxLine); err == io.EOF {
				break
			}
			if err == nil && len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			var e Event
			if err == nil {
				e, err = readLine(line, seq)
			}
			if err != nil {
				yield(Event{}, &LineError{n, err})
				return
			}
			seq = e.Seq
			if !yield(e, nil) {
				return
			}
		}
		if seq == 0 {
			yield(Event{}, &LineError{n, errors.New("there is no event")})
		}
	}
}

// nextLine reads a line behind line. One that cannot be an event is refused at its
// first character, however long it is, and any that is longer than most. io.EOF: there
// is none.
func nextLine(r *bufio.Reader, line []byte, most int) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		text := bytes.TrimLeft(line[:min(len(line), 64<<10)], " \t\r\n")
		switch {
		case len(text) > 0 && text[0] != '{':
			return line, fmt.Errorf("it is no event: it begins with %q", text[0])
		case len(line) > most:
			return line, fmt.Errorf("it has no end within %d MiB", most>>20)
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(line) > 0:
			return line, nil
		}
		return line, err
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
