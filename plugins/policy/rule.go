package policy

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tureen-host/tureen/plugins/policy/shellcmd"
)

// Rule names calls: all of a tool, or those of a pattern. In both * stands for any
// text. A path pattern is one of doublestar's, relative to the workspace unless
// it begins with / or ~/.
type Rule struct {
	Written string
	Tool    string
	Pattern string // "" = every call
}

var toolPattern = regexp.MustCompile(`^[A-Za-z0-9_*-]{1,64}$`)

func parseRule(text, home string) (Rule, error) {
	tool, pattern, has := strings.Cut(text, ":")
	r := Rule{Written: text, Tool: strings.TrimSpace(tool), Pattern: strings.TrimSpace(pattern)}
	switch {
	case !toolPattern.MatchString(r.Tool):
		return r, fmt.Errorf("%q does not begin with the name of a tool; write TOOL or TOOL: PATTERN, such as \"shell: git *\"", text)
	case has && r.Pattern == "":
		return r, fmt.Errorf("%q has no pattern after the colon; write one, or the tool alone", text)
	case strings.HasPrefix(r.Pattern, "~/") && home != "":
		r.Pattern = filepath.Join(home, r.Pattern[1:])
	}
	return r, nil
}

// covers tells whether the rule is about a tool.
func (r Rule) covers(tool string) bool { return matches(r.Tool, tool) }

// whole tells whether the rule is about every call of its tool.
func (r Rule) whole() bool { return r.Pattern == "" || r.Pattern == "*" || r.Pattern == "**" }

// command tells whether the pattern fits a text for certain: what is not known in
// it is fitted by * alone. A pattern that ends in " *" fits what stands before
// that as well.
func (r Rule) command(text string) bool {
	return r.whole() || matches(r.Pattern, text) || strings.HasSuffix(r.Pattern, " *") && matches(strings.TrimSuffix(r.Pattern, " *"), text)
}

// maybe tells whether the pattern fits the text for some value of what is not
// known in it.
func (r Rule) maybe(text string) bool {
	return r.command(text) || strings.Contains(text, shellcmd.Unknown) && overlaps(r.Pattern, text)
}

// path tells whether the pattern fits a path, absolute or relative.
func (r Rule) path(forms ...string) bool {
	for _, f := range forms {
		if ok, err := doublestar.Match(r.Pattern, filepath.ToSlash(f)); r.whole() || ok && err == nil {
			return true
		}
	}
	return false
}

// matches tells whether a pattern, in which * is any text, fits a text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// overlaps tells whether a pattern fits a text in which Unknown, too, is any
// text. Large ones overlap.
func overlaps(pattern, text string) bool {
	const most = 1 << 20
	if len(pattern)*len(text) > most {
		return true
	}
	any := func(s string, i int, star byte) bool { return s[i] == star }
	// reach[j]: pattern[:i] can be made equal to text[:j].
	reach := make([]bool, len(text)+1)
	reach[0] = true
	for j := 1; j <= len(text); j++ {
		reach[j] = reach[j-1] && any(text, j-1, shellcmd.Unknown[0])
	}
	for i := 1; i <= len(pattern); i++ {
		next := make([]bool, len(text)+1)
		star := any(pattern, i-1, '*')
		next[0] = reach[0] && star
		for j := 1; j <= len(text); j++ {
			unknown := any(text, j-1, shellcmd.Unknown[0])
			next[j] = star && (reach[j] || next[j-1]) ||
				unknown && (reach[j] || next[j-1]) ||
				reach[j-1] && (star || unknown || pattern[i-1] == text[j-1])
		}
		reach = next
	}
	return reach[len(text)]
}
