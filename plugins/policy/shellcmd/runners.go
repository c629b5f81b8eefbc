package shellcmd

import "strings"

// runners are programs of which a subcommand runs another program, named in the
// words behind it.
var runners = map[string]map[string]bool{
	"npm": set("explore exec x"), "pnpm": set("exec explore"), "yarn": set("exec run"), "bun": set("run x"), "uv": set("run"), "poetry": set("run"), "pipenv": set("run"), "hatch": set("run"), "pdm": set("run"), "rye": set("run"),
	"bundle": set("exec"), "mise": set("exec x"), "asdf": set("exec"), "rbenv": set("exec"), "pyenv": set("exec"), "nvm": set("exec run"), "volta": set("run"), "direnv": set("exec"), "conda": set("run"), "mamba": set("run"),
	"docker": set("exec"), "podman": set("exec"), "cargo": set("run"),
}

// runner looks at the program that such a subcommand runs.
func (w *walker) runner(base string, args []word, in feed) {
	verbs := runners[base]
	for i, a := range args {
		if !verbs[a.text] {
			continue
		}
		rest := args[i+1:]
		w.search(rest)
		for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") {
			if with := rest[0].text; base == "uv" && (strings.HasPrefix(with, "--with") || with == "--from") {
				w.record(Command{Argv: append([]string{base}, texts(args)...), Concerns: []Concern{{Network, "it fetches packages from other machines"}}})
			}
			rest = rest[1:]
		}
		if len(rest) > 0 && base != "npm" && base != "cargo" {
			w.program(rest, in)
		}
		return
	}
}

// settings are subcommands that change what a program does later.
func settings(base string, args []word) []Concern {
	switch {
	case (base == "npm" || base == "pnpm" || base == "yarn") && (mentions(args, "set") && !mentions(args, "get") || mentions(args, "config", "c") && mentions(args, "edit", "fix")),
		(base == "npm" || base == "pnpm") && flag(args, "", "--script-shell"),
		(base == "pip" || base == "pip3") && mentions(args, "config") && mentions(args, "set", "edit"):
		return []Concern{{Unclear, "it changes what " + base + " runs"}}
	case base == "cargo" && flag(args, "", "--config"):
		return []Concern{{Unclear, "its settings may name other programs"}}
	case base == "docker" && mentions(args, "context") && mentions(args, "use", "create"):
		return []Concern{{Network, "it turns to another machine"}}
	}
	return nil
}

// unversioned is the name of a program without the version at its end, where that
// names one that is known.
func unversioned(base string) string {
	if name := strings.TrimRight(base, "0123456789."); name == "pip" {
		return name
	}
	return base
}

// fdCommand walks the command that fd runs on what it finds.
func (w *walker) fdCommand(args []word, in feed) {
	for i, a := range args {
		text := a.text
		name, value, attached := strings.Cut(text, "=")
		switch {
		case name == "--exec" || name == "--exec-batch":
			if attached {
				w.code([]word{{text: value, unknown: a.unknown, tainted: a.tainted}}, in)
			}
		case len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.ContainsAny(text, "xX"):
			if value = text[strings.IndexAny(text, "xX")+1:]; value != "" {
				w.program(found(append([]word{{text: value, unknown: a.unknown, tainted: a.tainted}}, args[i+1:]...)), in)
			}
		default:
			continue
		}
		if i+1 < len(args) {
			w.program(found(args[i+1:]), in)
		}
		w.search(args[i+1:])
	}
}

// found puts what was found in place of {}, and at the end as well.
func found(args []word) []word { return fill(fill(args, "{}"), "") }

// products notes the files that a program makes by its options.
func (w *walker) products(base string, args []word) {
	switch base {
	case "sort", "find", "gfind":
		for i, a := range args {
			short := base == "sort" && strings.HasPrefix(a.text, "-") && strings.HasSuffix(a.text, "o")
			if i+1 < len(args) && (short || strings.HasPrefix(a.text, "-fprint") || a.text == "-fls" || a.text == "--output") {
				w.written[Base(args[i+1].text)] = true
			}
			if value, ok := strings.CutPrefix(a.text, "-o"); ok && base == "sort" && value != "" {
				w.written[Base(value)] = true
			}
			if value, ok := strings.CutPrefix(a.text, "--output="); ok {
				w.written[Base(value)] = true
			}
		}
	case "xxd", "uniq":
		w.made(args)
	}
}
