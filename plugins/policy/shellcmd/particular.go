package shellcmd

import (
	"strings"
)

// particular judges programs by their words.
func (w *walker) particular(base string, args []word) []Concern {
	switch base {
	case "rm":
		return w.remove(args)
	case "git":
		return w.git(args)
	case "kill":
		return kill(args)
	case "find", "gfind":
		return findConcerns(args)
	case "rsync":
		return rsync(args)
	case "go":
		return golang(args)
	case "python", "python2", "python3", "pypy", "pypy3":
		return module(args)
	case "touch":
		return w.elsewhere(base, args)
	case "chmod", "chown", "chgrp":
		if !flag(args, "R", "--recursive") {
			return append(unsure(args), w.elsewhere(base, args)...)
		}
		return []Concern{{Destructive, "it changes the rights of a whole tree"}}
	}
	if sub, ok := strings.CutPrefix(base, "git-"); ok && (gitNetwork[sub] || gitKnown[sub]) {
		return w.git(append([]word{plain(sub)}, args...))
	}
	if name, versioned := interpreter(base); versioned && name != base && strings.HasPrefix(name, "py") {
		return module(args)
	}
	return machine(base, args)
}

// machine judges programs that look after services, containers and connections.
func machine(base string, args []word) []Concern {
	destructive, network := "", false
	switch base {
	case "fuser":
		destructive = when(flag(args, "k", "--kill"), "it ends processes")
	case "crontab":
		destructive = when(!only(args, "-l"), "it changes what runs at set times")
	case "systemctl", "service", "rc-service", "supervisorctl":
		destructive = when(!looks(base, args), "it changes services of the machine")
	case "docker", "podman", "nerdctl":
		destructive = when(mentions(args, "prune", "rm", "rmi", "kill", "down", "remove"), "it removes containers, images or volumes")
		network = flag(args, "H", "--host")
	case "getent":
		network = mentions(args, "hosts", "ahosts", "ahostsv4", "ahostsv6", "networks")
	case "tar", "gtar", "bsdtar":
		destructive = when(flag(args, "", "--remove-files"), "it removes files")
	case "openssl":
		network = mentions(args, "s_client", "s_server", "s_time", "ocsp")
	case "psql", "mysql", "mysqldump", "pg_dump", "mongo":
		network = hosted(args)
	}
	switch {
	case destructive != "":
		return []Concern{{Destructive, destructive}}
	case network:
		return []Concern{{Network, "it reaches other machines"}}
	}
	return nil
}

// hosted tells whether a client of a database is told of another machine.
func hosted(args []word) bool {
	for i, a := range args {
		_, value, attached := strings.Cut(a.text, "=")
		switch {
		case flag([]word{a}, "", "--host") && attached:
		case a.text == "-h" || a.text == "--host":
			if value = ""; i+1 < len(args) {
				value = args[i+1].text
			}
		case strings.HasPrefix(a.text, "-h"):
			value = a.text[2:]
		default:
			continue
		}
		if !local.MatchString(value) && !strings.HasPrefix(value, "/") {
			return true
		}
	}
	return false
}

func when(is bool, why string) string {
	if is {
		return why
	}
	return ""
}

var lookingOnly = set("status show list-units list-unit-files is-active is-enabled is-failed cat list-timers help")

// looks tells whether a command about services only looks at them.
func looks(base string, args []word) bool {
	var plain []string
	for _, a := range args {
		if a.text == "--version" || a.text == "--help" || a.text == "--status-all" {
			return true
		}
		if !strings.HasPrefix(a.text, "-") {
			plain = append(plain, a.text)
		}
	}
	if base == "service" || base == "rc-service" {
		return len(plain) == 2 && lookingOnly[plain[1]]
	}
	return len(plain) > 0 && lookingOnly[plain[0]]
}

// unsure is the concern about words that may turn out to be options.
func unsure(args []word) []Concern {
	if hidesAny(args) {
		return []Concern{{Unclear, "some of its words are known only when it runs, and may be options"}}
	}
	return nil
}

// flag tells whether one of the short options, by letter, or the long one is
// there, also shortened. It looks behind -- too.
func flag(args []word, short, long string) bool {
	return some(args, func(a word) bool {
		name, _, _ := strings.Cut(a.text, "=")
		switch {
		case strings.HasPrefix(name, "--"):
			return long != "" && len(name) > 2 && strings.HasPrefix(long, name)
		case strings.HasPrefix(name, "-"):
			return short != "" && strings.ContainsAny(name[1:], short)
		}
		return false
	})
}

func only(args []word, text string) bool {
	return len(args) > 0 && !some(args, func(a word) bool { return a.text != text })
}

func mentions(args []word, words ...string) bool {
	return some(args, func(a word) bool {
		for _, x := range words {
			if a.text == x {
				return true
			}
		}
		return false
	})
}

// golang judges go: what fetches.
func golang(args []word) []Concern {
	network := []Concern{{Network, "it fetches modules from other machines"}}
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-C") {
		args = args[min(len(args), 1+btoi(args[0].text == "-C")):]
	}
	if len(args) == 0 {
		return nil
	}
	switch args[0].text {
	case "get":
		return network
	case "install", "run":
		if some(args, func(a word) bool { return strings.Contains(a.text, "@") && !strings.HasPrefix(a.text, "-") }) {
			return network
		}
	case "mod", "work":
		if mentions(args, "download") {
			return network
		}
	case "list":
		if mentions(args, "-u", "--u", "-versions", "--versions") {
			return network
		}
	case "env":
		if flag(args, "wu", "") {
			return []Concern{{Unclear, "it changes what go does later"}}
		}
	case "generate", "tool":
	}
	if some(args, func(a word) bool {
		return strings.HasPrefix(strings.TrimLeft(a.text, "-"), "toolexec") || strings.HasPrefix(strings.TrimLeft(a.text, "-"), "exec=") || a.text == "-exec" || strings.HasPrefix(strings.TrimLeft(a.text, "-"), "vettool") || strings.HasPrefix(strings.TrimLeft(a.text, "-"), "overlay") || strings.Contains(a.text, "-extld") || strings.HasPrefix(a.text, "-gccgoflags")
	}) {
		return []Concern{{Unclear, "it runs another program for each step"}}
	}
	if first := args[0]; first.unknown && strings.HasPrefix(first.text, Unknown) {
		return []Concern{{Unclear, "what it is told to do is known only when it runs"}}
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// module judges python -m.
func module(args []word) []Concern {
	name, rest, ok := pythonModule(args)
	words, known := networkWords[name]
	switch {
	case !ok:
	case known:
		return subcommand(words, name, rest)
	case strings.Contains(name, Unknown):
		return []Concern{{Unclear, "which module it runs is known only when it runs"}}
	case networkModules[name] || strings.HasPrefix(name, "pip."):
		return []Concern{{Network, "it reaches other machines"}}
	}
	return nil
}

var networkModules = set("http.server xmlrpc.server urllib.request webbrowser smtplib ftplib telnetlib http.client poplib imaplib nntplib ensurepip pip._internal")
