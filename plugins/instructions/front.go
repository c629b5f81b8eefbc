package instructions

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// front is the head of a skill's file.
type front struct {
	name, description string // "" where the key is not there
	body              string // what follows
}

var (
	keyLine = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)[ ]*:(?:[ ]+(.*))?$`)
	// richValue begins what only a whole YAML reader understands.
	richValue = regexp.MustCompile("^[\\[\\]{}&*!%@`#]")
	block     = regexp.MustCompile(`^[|>][+-]?[ ]*(?:#.*)?$`)
)

// parseFront reads the front matter of a skill's file: name and description, each
// plain, quoted or a block (| and >). Other keys are passed over with what is
// indented below them. What is no YAML, or more of it than these two keys need, is
// an error that names the line.
func parseFront(text string) (front, error) {
	head, body, err := splitFront(text)
	f := front{body: body}
	seen := map[string]bool{}
	for i := 0; err == nil && i < len(head); {
		next := i + 1
		for next < len(head) && below(head[next]) {
			next++
		}
		if err = f.entry(head[i], head[i+1:next], seen); err != nil {
			err = fmt.Errorf("line %d: %w", i+2, err) // the first line is the "---"
		}
		i = next
	}
	return f, err
}

// splitFront finds the lines between the two "---", and what follows.
func splitFront(text string) (head []string, body string, err error) {
	text = strings.TrimPrefix(text, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		switch marker := strings.TrimRight(lines[i], " ") == "---"; {
		case i == 0 && !marker:
			return nil, "", errors.New(`line 1: no front matter; begin the file with "---", name and description, and "---" again`)
		case i > 0 && marker:
			return lines[1:i], strings.TrimSpace(strings.Join(lines[i+1:], "\n")), nil
		}
	}
	return nil, "", errors.New(`the front matter does not end; close it with a line "---"`)
}

// entry reads one key with the lines below it.
func (f *front) entry(line string, more []string, seen map[string]bool) error {
	line = strings.TrimRight(line, " ")
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	m := keyLine.FindStringSubmatch(line)
	if m == nil {
		return errors.New("not of the form key: value")
	}
	if seen[m[1]] {
		return fmt.Errorf("the key %s stands there twice", m[1])
	}
	seen[m[1]] = true
	if err := f.set(m[1], m[2], more); err != nil {
		return fmt.Errorf("%s: %w", m[1], err)
	}
	return nil
}

// below tells whether a line belongs to the key above it.
func below(line string) bool {
	return strings.TrimSpace(line) == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "- ")
}

func (f *front) set(key, value string, more []string) (err error) {
	switch key {
	case "name":
		f.name, err = scalar(value, more)
	case "description":
		f.description, err = scalar(value, more)
	}
	return err
}

// scalar reads a value that begins on the key's line and may go on below it.
func scalar(value string, more []string) (string, error) {
	for _, line := range more {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "\t") {
			return "", errors.New("a tab indents the lines below it; use spaces")
		}
	}
	value = strings.TrimSpace(value)
	if block.MatchString(value) {
		return blockText(value[0] == '>', more), nil
	}
	for _, line := range more {
		if line = strings.TrimSpace(line); line != "" {
			value = strings.TrimSpace(value + " " + line)
		}
	}
	switch {
	case value == "":
		return "", nil
	case strings.HasPrefix(value, `"`), strings.HasPrefix(value, "'"):
		return quoted(value)
	case richValue.MatchString(value):
		return "", fmt.Errorf("only text is understood here, not %q; put it in quotes", value[:1])
	case strings.HasPrefix(value, "- "):
		return "", errors.New("only text is understood here, not a list")
	}
	value, _, _ = strings.Cut(value, " #")
	if strings.Contains(value, ": ") || strings.HasSuffix(value, ":") {
		return "", errors.New("a colon within the text; put the text in quotes")
	}
	return strings.TrimSpace(value), nil
}

// quoted reads text in quotes; behind it only a comment may stand.
func quoted(value string) (string, error) {
	quote := value[0]
	for i := 1; i < len(value); i++ {
		switch {
		case quote == '"' && value[i] == '\\':
			i++
		case quote == '\'' && value[i] == '\'' && i+1 < len(value) && value[i+1] == '\'':
			i++
		case value[i] == quote:
			if rest := strings.TrimSpace(value[i+1:]); rest != "" && !strings.HasPrefix(rest, "#") {
				return "", errors.New("something follows the closing quote")
			}
			return unquote(value[:i+1])
		}
	}
	return "", errors.New("the quote is not closed")
}

func unquote(value string) (string, error) {
	if value[0] == '\'' {
		return strings.ReplaceAll(value[1:len(value)-1], "''", "'"), nil
	}
	text, err := strconv.Unquote(strings.ReplaceAll(value, `\/`, "/"))
	if err != nil {
		return "", errors.New("an escape that is not understood within the quotes")
	}
	return text, nil
}

// blockText reads the lines below | or >; folded joins them.
func blockText(folded bool, lines []string) string {
	indent := -1
	var out []string
	for _, line := range lines {
		if text := strings.TrimLeft(line, " "); text != "" && indent < 0 {
			indent = len(line) - len(text)
		}
		out = append(out, strings.TrimRight(line[min(max(indent, 0), len(line)):], " "))
	}
	separator := "\n"
	if folded {
		separator = " "
	}
	return strings.TrimSpace(strings.Join(out, separator))
}
