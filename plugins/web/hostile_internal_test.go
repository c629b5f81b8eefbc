package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"
)

const hostileSize = 2 << 20

// filled is a page of hostileSize bytes: a beginning, then parts that are made from a
// number, or all the same.
func filled(start, part string) string {
	var b strings.Builder
	b.WriteString(start)
	numbered := strings.Contains(part, "%d")
	for n := 0; b.Len() < hostileSize; n++ {
		if numbered {
			fmt.Fprintf(&b, part, n)
		} else {
			b.WriteString(part)
		}
	}
	return b.String()[:hostileSize]
}

var hostile = map[string][2]string{
	"body tags":               {"", "<body a%d=1>"},
	"html tags":               {"", "<html a%d=1>"},
	"body tags after foreign": {"<svg><style>", "<body a%d=1>"},
	"html and body":           {"", "<html a%[1]d><body b%[1]d>"},
	"one tag's attributes":    {"<body ", "a%d=1 "},
	"a tag that never ends":   {"<div ", "x"},
	"text in pieces":          {"<p>", "a</z>"},
	"text around comments":    {"<p>", "a<!---->"},
	"text around bodies":      {"<p>", "a<body>"},
	"end tags of nothing":     {strings.Repeat("<i>", 300), "</z>"},
	"end tags out of reach":   {"<b>" + strings.Repeat("<table><td>", 200), "</b>"},
	"paragraphs out of reach": {"<p><table><td>" + strings.Repeat("<i>", 240), "<hr>"},
	"formatting":              {"", "<b a%d></p><p>"},
	"links in links":          {"", "<a href=%d>x"},
	"links in blocks":         {"", "<a href=%d><div>"},
	"nested tables":           {"", "<table><tr><td>x"},
	"text in tables":          {"<table>", "x<i>y"},
	"cells":                   {"<table><tr>", "<td>"},
	"nested forms":            {"", "<form><div>x"},
	"templates":               {"", "<template><b>"},
	"selects":                 {"", "<select><option>"},
	"framesets":               {"", "<frameset><frame>"},
	"headings":                {"", "<h1><h2><i></i>"},
	"items":                   {strings.Repeat("<ul><li>", 120), "<li><b></b>"},
	"codes":                   {strings.Repeat("<code>", 250), "<i></i>"},
	"codes kept":              {"<pre>" + strings.Repeat("<code>", 250), "x "},
	"a long style":            {`<a href=x><p style="` + strings.Repeat("x", 1<<20) + `">`, "<i>x</i>"},
	"styles":                  {"", `<p style="a:b; display : none">x`},
	"a long base":             {"<base href=/" + strings.Repeat("x", 1<<20) + ">", "<a href=#>x</a>"},
	"links on a long base":    {"<base href=/" + strings.Repeat("x", 1<<20) + ">", "<a href=y></a>"},
	"scripts that never end":  {"", "<script><!--<script>"},
	"comments that never end": {"", "<!--"},
	"markup declarations":     {"", "<!x"},
	"entities":                {"", "&ampx;&#x41;&"},
	"titles":                  {"", "<title>x</title>"},
	"foreign":                 {"", "<svg><math><desc>"},
	"line breaks":             {"", "<br>"},
	"less-than signs":         {"", "<"},
	"buttons":                 {"", "<button><p>"},
	"raw text":                {"", "<xmp><textarea></xmp>"},
	"lists of terms":          {"", "<dl><dt><dd>"},
	"images":                  {"<a href=x>", "<img alt=x>"},
}

// The bound lets a slow machine take its time; a time that grows with the square of a
// page of 5 MiB is far beyond it.
func TestT19_NoPageIsSlowToRead(t *testing.T) {
	at := &url.URL{Scheme: "http", Host: "example.org", Path: "/"}
	for name, shape := range hostile {
		t.Run(name, func(t *testing.T) {
			page := filled(shape[0], shape[1])
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			began := time.Now()
			if _, err := readable(ctx, page, at); err != nil {
				t.Error(err)
			}
			t.Logf("%d ms", time.Since(began).Milliseconds())
		})
	}
}

// ends is a context that is over after some looks at it.
type ends struct {
	context.Context
	looks int
}

func (e *ends) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestT19_ReadingEndsWithItsCall(t *testing.T) {
	at := &url.URL{Scheme: "http", Host: "example.org", Path: "/"}
	page := filled("", "<i>x</i>")
	all, err := readable(t.Context(), page, at)
	if err != nil || all == "" {
		t.Fatalf("%d characters, %v", len(all), err)
	}
	before := runtime.NumGoroutine()
	for _, looks := range []int{0, 1, 100, hostileSize/len("<i>x</i>")*3/looksAtCtx + 10} { // the last while it is written
		e := &ends{t.Context(), looks}
		if text, err := readable(e, page, at); !errors.Is(err, context.Canceled) || len(text) == len(all) {
			t.Errorf("after %d looks: %d characters, %v", looks, len(text), err)
		}
		if e.looks < -100 {
			t.Errorf("after %d looks it was asked %d times more", looks, -e.looks)
		}
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}
