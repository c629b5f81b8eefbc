package files

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// magic is how files begin that the standard library does not tell.
var magic = []struct{ head, kind string }{
	{"\x7fELF", "an ELF program, library or object file"},
	{"MZ", "a Windows program or library"},
	{"\xcf\xfa\xed\xfe", "a macOS program or library"},
	{"\xca\xfe\xba\xbe", "a Java class or a macOS program"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"\xfd7zXZ\x00", "xz data"}, {"\x28\xb5\x2f\xfd", "zstd data"}, {"BZh", "bzip2 data"},
}

// describe says what a file that is no text seems to be, its size, and what to do
// about it.
func describe(head []byte, size int64) string {
	kind := ""
	for _, m := range magic {
		if kind == "" && bytes.HasPrefix(head, []byte(m.head)) {
			kind = m.kind
		}
	}
	if kind == "" {
		kind = http.DetectContentType(head)
	}
	if charset, ok := strings.CutPrefix(kind, "text/plain; charset=utf-16"); ok {
		return fmt.Sprintf("UTF-16%s text, %d bytes; convert a copy to UTF-8, for example with iconv -f UTF-16 -t UTF-8 in a shell", strings.ToUpper(charset), size)
	}
	if strings.HasPrefix(kind, "text/") || kind == "application/octet-stream" {
		kind = "data of an unknown kind, with NUL bytes"
	}
	return fmt.Sprintf("%s, %d bytes; read shows text only, look at this with a program for it in a shell", kind, size)
}
