package prompt

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var variable = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// Assemble renders the system prompt: the visible sections in order, variables
// replaced, joined by blank lines (SP1). An unknown variable is an error that
// names the section. A complete section stands alone. visible tells which tools
// the model sees.
func Assemble(sections []Section, vars map[string]string, visible func(tool string) bool) (string, error) {
	sections = shown(sections, func(s Section) string { return s.Tool }, visible)
	slices.SortStableFunc(sections, func(a, b Section) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID)) })
	var parts []string
	for _, s := range sections {
		text := s.Text
		if !s.Raw {
			var err error
			if text, err = interpolate(text, vars); err != nil {
				return "", fmt.Errorf("prompt section %q: %w", s.ID, err)
			}
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if s.Complete {
			return text, nil
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n"), nil
}

// What a runtime context begins with, and what it says once it is empty (L13).
const (
	contextHead = "Facts of the running environment, as of now. They replace any earlier list of such facts."
	contextNone = "Facts of the running environment: none. Earlier lists of such facts no longer apply."
)

// RuntimeContext renders the contexts as one message. shownBefore tells whether
// an earlier one stands in the conversation: then an empty one says so, else it
// is "".
func RuntimeContext(contexts []Context, visible func(tool string) bool, shownBefore bool) string {
	contexts = shown(contexts, func(c Context) string { return c.Tool }, visible)
	slices.SortStableFunc(contexts, func(a, b Context) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID)) })
	parts := []string{contextHead}
	for _, c := range contexts {
		if text := strings.TrimSpace(c.Text); text != "" {
			parts = append(parts, text)
		}
	}
	switch {
	case len(parts) > 1:
		return strings.Join(parts, "\n\n")
	case shownBefore:
		return contextNone
	}
	return ""
}

func shown[T any](items []T, tool func(T) string, visible func(string) bool) []T {
	return slices.DeleteFunc(slices.Clone(items), func(it T) bool { return tool(it) != "" && !visible(tool(it)) })
}

func interpolate(text string, vars map[string]string) (string, error) {
	var unknown error
	known := func() string {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			if vars[name] != "" {
				names = append(names, "{{"+name+"}}")
			}
		}
		return cmp.Or(strings.Join(names, ", "), "none")
	}
	out := variable.ReplaceAllStringFunc(text, func(m string) string {
		name := strings.TrimSpace(m[2 : len(m)-2])
		value, ok := vars[name]
		if !ok || value == "" {
			unknown = fmt.Errorf("unknown variable {{%s}}; what there is: %s", name, known())
		}
		return value
	})
	return out, unknown
}
