package notes

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Kind names a sort of home (N3, N5).
type Kind string

const (
	Session Kind = "session"  // bare addresses
	Project Kind = "project"  // @project
	Human   Kind = "human"    // @human
	Self    Kind = "self"     // @self
	Model   Kind = "model"    // @model
	Other   Kind = "projects" // @projects/SLUG, read-only
)

// MapName is the note that leads a home.
const MapName = "MAP.md"

// Limits of an address.
const (
	maxSegments     = 6
	maxPathBytes    = 200
	maxSegmentBytes = 80
	maxSlugBytes    = 63
)

const grammar = `use PATH, @project/PATH, @human/PATH, @self/PATH, @model/PATH or @projects/SLUG/PATH with names of letters, digits, space, ".", "-" and "_"`

// Address names a note, or a home where Path is empty. It is canonical: NFC, with
// its extension, MAP written MAP.md.
type Address struct {
	Home Kind
	Slug string // of Other only
	Path string
}

// String is the canonical form, the only one that is shown and logged.
func (a Address) String() string {
	home := ""
	switch a.Home {
	case Session:
		return a.Path
	case Other:
		if home = "@projects"; a.Slug != "" {
			home += "/" + a.Slug
		}
	default:
		home = "@" + string(a.Home)
	}
	if a.Path == "" {
		return home
	}
	return home + "/" + a.Path
}

// Parse reads the address of a note. Errors have CodeAddress or CodeHome.
func Parse(text string) (Address, error) {
	a, err := ParseScope(text)
	if err != nil {
		return Address{}, err
	}
	if a.Path == "" || strings.HasSuffix(text, "/") {
		return Address{}, Refuse(CodeAddress, "add the name of a note, such as "+Address{a.Home, a.Slug, path.Join(a.Path, "MAP")}.String(), "%q names a home or a folder, not a note", text)
	}
	a.Path = withExtension(a.Path)
	if err := checkPath(a.Path); err != nil {
		return Address{}, err
	}
	return a, nil
}

// ParseScope reads the address of a home or a folder; Path is as written. An
// empty text is the session's home.
func ParseScope(text string) (Address, error) {
	text = norm.NFC.String(text)
	a := Address{Home: Session}
	rest := strings.TrimSuffix(text, "/")
	if strings.HasPrefix(text, "@") {
		var word string
		word, rest, _ = strings.Cut(rest, "/")
		switch k := Kind(word[1:]); k {
		case Project, Human, Self, Model:
			a.Home = k
		case Other:
			a.Home = k
			a.Slug, rest, _ = strings.Cut(rest, "/")
			if a.Slug != "" && !isSlug(a.Slug) {
				return Address{}, Refuse(CodeAddress, "notes_list with path=@projects shows the projects", "%q is no project's name", a.Slug)
			}
		default:
			return Address{}, Refuse(CodeHome, "use a bare path, @project, @human, @self, @model or @projects/SLUG", "there is no home %q", word)
		}
		if rest == "" {
			return a, nil
		}
	}
	if rest == "" && text == "" {
		return a, nil
	}
	a.Path = rest
	return a, checkPath(rest)
}

// withExtension adds the implied .md and settles how MAP is written.
func withExtension(p string) string {
	dir, base := path.Split(p)
	ext := path.Ext(base)
	if low := strings.ToLower(ext); low == ".md" || low == ".txt" {
		base = strings.TrimSuffix(base, ext) + low
	} else {
		base += ".md"
	}
	if dir == "" && strings.EqualFold(base, MapName) {
		base = MapName
	}
	return dir + base
}

// checkPath refuses what is not a plain relative path, with the rule it breaks.
func checkPath(p string) error {
	no := func(format string, args ...any) error { return Refuse(CodeAddress, grammar, format, args...) }
	switch {
	case !utf8.ValidString(p):
		return no("the address is not UTF-8")
	case strings.HasPrefix(p, "/"):
		return no("%q is absolute", p)
	case len(p) > maxPathBytes:
		return no("the address has %d bytes, %d are allowed", len(p), maxPathBytes)
	}
	segments := strings.Split(p, "/")
	if len(segments) > maxSegments {
		return no("the address has %d parts, %d are allowed", len(segments), maxSegments)
	}
	for _, s := range segments {
		if rule := breaks(s); rule != "" {
			return no("%q in the address %s", s, rule)
		}
	}
	return nil
}

// breaks says which rule a segment breaks, "" for none.
func breaks(s string) string {
	switch {
	case s == "":
		return "is an empty part"
	case s == "." || s == "..":
		return "is not a name"
	case s[0] == '.':
		return "begins with a dot"
	case s[0] == '~':
		return "begins with ~, which is not expanded"
	case strings.HasSuffix(s, ".") || strings.HasSuffix(s, " "):
		return "ends with a dot or a space"
	case len(s) > maxSegmentBytes:
		return "is longer than 80 bytes"
	case isDevice(s):
		return "is a device name on some systems"
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
		case i == 0:
			return "does not begin with a letter or a digit"
		case r == ' ' || r == '.' || r == '-' || r == '_' || unicode.IsMark(r):
		case r == '\\':
			return "holds a back-slash"
		case r == ':':
			return "holds a colon"
		case unicode.IsControl(r):
			return "holds a control character"
		default:
			return "holds " + string(r)
		}
	}
	return ""
}

func isDevice(s string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(s), ".")
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "COM" || stem[:3] == "LPT") && stem[3] >= '1' && stem[3] <= '9'
}

func isSlug(s string) bool {
	if s == "" || len(s) > maxSlugBytes {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case i > 0 && (c == '-' || c == '_' || c == '.'):
		default:
			return false
		}
	}
	return true
}

// toSlug makes a slug of any name; "" where nothing is left of it.
func toSlug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		ok := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !ok && b.Len() > 0 && strings.ContainsRune("-_.", r) {
			ok = true
		}
		switch {
		case ok:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := b.String()
	return strings.Trim(s[:min(len(s), maxSlugBytes)], "-_.")
}

// fold makes names comparable that some file systems hold for the same.
func fold(s string) string { return cases.Fold().String(norm.NFC.String(s)) }
