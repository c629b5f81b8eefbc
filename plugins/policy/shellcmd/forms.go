package shellcmd

import "strings"

// Forms are the texts by which a rule that forbids may know the command: as it
// stands, with the program's bare name, and without what stands between git and
// its command.
func (c Command) Forms() []string {
	forms := []string{c.Text()}
	if len(c.Argv) == 0 {
		return forms
	}
	base := Base(c.Argv[0])
	args := c.Argv[1:]
	add := func(argv []string) {
		if text := strings.Join(argv, " "); text != forms[len(forms)-1] {
			forms = append(forms, text)
		}
	}
	add(append([]string{base}, args...))
	if base == "git" {
		for len(args) > 0 && strings.HasPrefix(args[0], "-") {
			width := 1
			if gitValued[args[0]] && len(args) > 1 {
				width = 2
			}
			args = args[width:]
		}
		add(append([]string{base}, args...))
	}
	return forms
}
