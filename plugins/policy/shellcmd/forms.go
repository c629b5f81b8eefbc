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
	if sub, ok := strings.CutPrefix(base, "git-"); ok && (gitNetwork[sub] || gitKnown[sub]) {
		base, args = "git", append([]string{sub}, args...)
	}
	if base == "git" {
		for len(args) > 0 && strings.HasPrefix(args[0], "-") {
			width := 1
			if gitValued[args[0]] && len(args) > 1 {
				width = 2
			}
			args = args[width:]
		}
		add(append([]string{base}, args...))
		if len(args) > 0 && (args[0] == "send-pack" || args[0] == "http-push") {
			add(append([]string{base, "push"}, args[1:]...)) // what push runs
		}
	}
	return forms
}
