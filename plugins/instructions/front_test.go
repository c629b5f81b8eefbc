package instructions_test

import (
	"strings"
	"testing"
)

func TestC143_FrontMatterIsReadStrictly(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	good := map[string]struct{ text, want string }{
		"bom":     {"\ufeff---\r\nname: bom\r\ndescription: With a mark.\r\n---\r\nBody.\r\n", "With a mark."},
		"plain":   {"---\ndescription: It's # one, not two  # a comment\n---\n", "It's"},
		"single":  {"---\nname: 'single'\ndescription: 'It''s: fine' # so\n---\n", "It's: fine"},
		"double":  {"---\ndescription: \"a \\\"b\\\" \\u00e9\"\n---\n", `a "b" é`},
		"folded":  {"---\ndescription: >-\n  One\n  line.\n\n  Two.\nname: folded\n---\n", "One line. Two."},
		"literal": {"---\ndescription: |\n    One\n      two\n---\n", "One two"},
		"wrapped": {"---\ndescription: One\n  line.\nname: wrapped\n---\n", "One line."},
		"others":  {"---\n# of all kinds\nlicense: {a: [b]}\nmetadata:\n  x: &y 1\n  - z\nallowed-tools:\n- read\n- 'x'\nname: others\ndescription: Fine.\n---\n", "Fine."},
		"nohint":  {"---  \nname: nohint\ndescription: x---y\n---\n---\n", "x---y"},
	}
	bad := map[string]struct{ text, want string }{
		"none":     {"# A skill\n", "line 1: no front matter"},
		"empty":    {"", "line 1: no front matter"},
		"open":     {"---\nname: open\n", "the front matter does not end"},
		"colon":    {"---\nname: colon\ndescription: Use when: always\n---\n", "line 3: description: a colon within the text; put the text in quotes"},
		"tab":      {"---\ndescription: >\n\tText.\n---\n", "line 2: description: a tab"},
		"nokey":    {"---\nname: nokey\nno key at all\n---\n", "line 3: not of the form key: value"},
		"twice":    {"---\nname: twice\ndescription: a\nname: again\n---\n", "line 4: the key name stands there twice"},
		"quote":    {"---\ndescription: \"open\nname: quote\n---\n", "line 2: description: the quote is not closed"},
		"after":    {"---\ndescription: 'a' b\n---\n", "something follows the closing quote"},
		"escape":   {"---\ndescription: \"a\\qb\"\n---\n", "an escape that is not understood"},
		"flow":     {"---\ndescription: [a, b]\n---\n", `only text is understood here, not "["`},
		"anchor":   {"---\nname: *x\ndescription: a\n---\n", `only text is understood here, not "*"`},
		"listed":   {"---\ndescription:\n  - a\n---\n", "not a list"},
		"nodesc":   {"---\nname: nodesc\n---\n", "it has no description"},
		"traverse": {"---\nname: ../traverse\ndescription: Out.\n---\n", `the name "../traverse" is none`},
	}
	for name, c := range good {
		h.write("p/.agents/skills/"+name+"/SKILL.md", c.text)
	}
	for name, c := range bad {
		h.write("p/.agents/skills/"+name+"/SKILL.md", c.text)
	}
	h.start("p", `{}`)
	list, said := h.context("skills"), h.command()
	for name, c := range good {
		if !strings.Contains(list, "- "+name+": "+c.want+"\n") {
			t.Errorf("%s is not listed with %q:\n%s", name, c.want, list)
		}
		if r := h.load(name); r.IsError || strings.Contains(r.Text, "\r") {
			t.Errorf("%s does not load: %s", name, r.Text)
		}
	}
	for name, c := range bad {
		lacks(t, list, "- "+name)
		_, line, _ := strings.Cut(said, "skills/"+name+"/SKILL.md\": ")
		if line, _, _ = strings.Cut(line, "\n"); !strings.Contains(line, c.want) {
			t.Errorf("/skills says %q of %s, want %q in it", line, name, c.want)
		}
		h.refused(name, "SKILL_BROKEN", c.want, "tell the person")
	}
	lacks(t, h.load("bom").Text, "With a mark")
}
