package web

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/transform"

	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// textTypes are types that are text besides text/*, +json and +xml.
var textTypes = map[string]bool{
	"application/json": true, "application/xml": true, "application/javascript": true, "application/ecmascript": true,
	"application/x-javascript": true, "application/x-ndjson": true, "application/jsonl": true, "application/yaml": true, "application/x-yaml": true,
	"application/toml": true, "application/x-www-form-urlencoded": true, "application/x-sh": true, "application/sql": true,
	"application/graphql": true, "application/rtf": true, "application/x-tex": true, "message/rfc822": true,
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || textTypes[kind]
}

// text decodes a body and names its type; what is no text is refused with type and
// size (C086).
func (p *page) text() (kind, text string, err error) {
	declared, _, err := mime.ParseMediaType(p.contentType)
	if err != nil {
		declared = ""
	}
	sniffed, _, _ := mime.ParseMediaType(http.DetectContentType(p.body))
	switch {
	case len(p.body) == 0:
		return orElse(declared, "text/plain"), "", nil
	case isText(declared):
		kind = declared
	case declared == "" || declared == "application/octet-stream" || declared == "binary/octet-stream":
		kind = sniffed
	default:
		return "", "", p.binary(declared)
	}
	if !isText(kind) || !isText(sniffed) && sniffed != "application/octet-stream" {
		return "", "", p.binary(sniffed)
	}
	decoded, err := p.body, nil
	if encoding, _, certain := charset.DetermineEncoding(p.body, p.contentType); certain || !p.utf8() {
		decoded, _, err = transform.Bytes(encoding.NewDecoder(), p.body)
	}
	if err != nil || bytes.IndexByte(decoded[:min(len(decoded), toolcall.SniffBytes)], 0) >= 0 {
		return "", "", p.binary("application/octet-stream")
	}
	return kind, strings.TrimPrefix(string(decoded), "\uFEFF"), nil
}

// utf8 tells whether the body is UTF-8 throughout, but for an end that was cut.
func (p *page) utf8() bool {
	if !p.cut {
		return utf8.Valid(p.body)
	}
	for i := range utf8.UTFMax {
		if utf8.Valid(p.body[:len(p.body)-i]) {
			return true
		}
	}
	return false
}

func (p *page) binary(kind string) error {
	size := fmt.Sprintf("%d bytes", len(p.body))
	switch {
	case p.cut && p.size > 0:
		size = fmt.Sprintf("%d bytes", p.size)
	case p.cut:
		size = fmt.Sprintf("more than %d MiB", maxBody>>20)
	}
	return toolcall.Errorf("BINARY", "the server answered %d with %.100s, %s: that is no text, and is not shown. Look for a page that says in text what you need", p.status, kind, size)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
