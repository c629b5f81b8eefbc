package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/cmd/tureen/internal/search"
	"github.com/tureen-host/tureen/host/session"
)

// hitWriter writes hits as they come: there may be any number.
type hitWriter interface {
	hit(session.Summary, search.Hit) error
	end(searched int, more bool, passed []unread) error
	count() int
}

func (v *searchVerb) hitWriter(words string) (hitWriter, error) {
	if v.asJSON {
		return &jsonHits{w: render.JSONFor(v.out), words: words}, nil
	}
	style, err := render.NewStyle(v.color, v.out, v.env)
	return &textHits{w: v.out, style: style, words: words, lines: v.lines, quiet: v.quiet}, err
}

// textHits writes for people: a line a session, under it a line a hit.
type textHits struct {
	w       io.Writer
	style   render.Style
	words   string
	lines   *render.Lines
	quiet   bool
	session string
	n       int
}

func (t *textHits) count() int { return t.n }

func (t *textHits) hit(row session.Summary, h search.Hit) error {
	t.n++
	if t.session != row.ID {
		t.session = row.ID
		if _, err := fmt.Fprintf(t.w, "%s  %s  %s%s\n", t.style.Bold(row.ID), clock(row.Updated), mark(row), render.Head(row.Title, 60)); err != nil {
			return err
		}
	}
	where := ""
	if h.Turn > 0 {
		where = fmt.Sprintf("%d.%d", h.Turn, h.Step)
	}
	said := string(h.Part)
	if h.Tool != "" {
		said += " " + render.Head(h.Tool, 40)
	}
	times := ""
	if h.Matches > 1 {
		times = t.style.Faint(fmt.Sprintf(" (%d times)", h.Matches))
	}
	_, err := fmt.Fprintf(t.w, "  %7d  %-6s  %-14s  %s%s%s%s\n", h.Seq, where, said, line(h.Before), t.style.Yellow(line(h.Match)), line(h.After), times)
	return err
}

// line is hostile text on one line.
func line(text string) string {
	return render.Plain(string(bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, []byte(text))))
}

func (t *textHits) end(searched int, more bool, _ []unread) (err error) {
	switch {
	case searched == 0:
		_, err = fmt.Fprintln(t.w, "no session so far")
	case t.n == 0:
		_, err = fmt.Fprintf(t.w, "%q stands in none of %s\n", t.words, render.Count(searched, "session"))
	case more && !t.quiet:
		t.lines.Print("there is more: --limit 0 shows all")
	}
	return err
}

// jsonHits writes one object, hit by hit.
type jsonHits struct {
	w     io.Writer
	words string
	n     int
}

func (j *jsonHits) count() int { return j.n }

func (j *jsonHits) hit(_ session.Summary, h search.Hit) error {
	err := j.open()
	if j.n > 0 {
		_, err = io.WriteString(j.w, ",")
	}
	j.n++
	return cmp.Or(err, j.value("\n    ", h))
}

func (j *jsonHits) open() error {
	if j.n > 0 {
		return nil
	}
	return cmp.Or(j.value("{\n  \"query\": ", j.words), j.text(",\n  \"hits\": ["))
}

func (j *jsonHits) end(searched int, more bool, passed []unread) error {
	if err := j.open(); err != nil {
		return err
	}
	return cmp.Or(j.value("],\n  \"sessions\": ", searched), j.value(",\n  \"more\": ", more),
		j.value(",\n  \"unread\": ", append([]unread{}, passed...)), j.text("\n}\n"))
}

func (j *jsonHits) value(before string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return j.text(before + string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
}

func (j *jsonHits) text(s string) error {
	_, err := io.WriteString(j.w, s)
	return err
}
