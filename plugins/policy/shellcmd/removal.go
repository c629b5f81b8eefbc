package shellcmd

import (
	"strings"
)

// oneFile tells whether rm -f is for a single file of the workspace or for
// temporary files, written as it is.
func (w *walker) oneFile(args []word) bool {
	if len(args) != 2 || args[0].text != "-f" {
		return false
	}
	file := args[1]
	return !file.unknown && !file.glob && !file.expanded && file.text != "" && !strings.HasPrefix(file.text, "-") && !w.outside(file)
}

// remove judges rm: a plain file of the workspace may go.
func (w *walker) remove(args []word) []Concern {
	options := true
	if w.oneFile(args) {
		return nil
	}
	for _, a := range args {
		switch {
		case options && a.text == "--":
			options = false
		case options && (strings.HasPrefix(a.text, "-r") || flag([]word{a}, "rRfd", "--recursive") || flag([]word{a}, "", "--force") || flag([]word{a}, "", "--no-preserve-root")):
			return []Concern{{Destructive, "it removes without asking, or whole directories"}}
		case options && strings.HasPrefix(a.text, "-") && !a.unknown:
		case a.glob:
			return []Concern{{Destructive, "which files it removes depends on the files that are there"}}
		case a.unknown || a.hides():
			return []Concern{{Destructive, "which files it removes is known only when it runs"}}
		case w.outside(a):
			return []Concern{{Destructive, "it removes a file outside of the workspace"}}
		}
	}
	return nil
}

// usual tells whether a signal is one that a shell sends to itself for a trap.
func usual(signal string) bool { return strings.HasPrefix(signal, "-USR") }

// kill judges kill: jobs of the line itself may be ended.
func kill(args []word) []Concern {
	hard := false
	for i, a := range args {
		text := a.text
		switch {
		case text == "-l" || text == "-L" || text == "--list" || text == "-0":
			return nil
		case i == 0 && strings.HasPrefix(text, "-") && text != "--":
			hard = strings.Contains(text, "9") || strings.Contains(strings.ToUpper(text), "KILL")
			if a.hides() && a.tainted {
				hard = true
			}
		case a.parent && !usual(args[0].text):
			return []Concern{{Destructive, "it ends the process that runs it"}}
		case strings.HasPrefix(text, "%"), text == "--", i == 1 && (args[0].text == "-s" || args[0].text == "-n"):
			hard = hard || text == "9" || strings.HasSuffix(strings.ToUpper(text), "KILL")
		case strings.HasPrefix(text, Unknown) && !hard && !a.tainted, text == Unknown && !a.tainted:
		default:
			return []Concern{{Destructive, "it ends processes that this line did not start"}}
		}
	}
	return nil
}

// findConcerns judges the actions of find.
func findConcerns(args []word) []Concern {
	var out []Concern
	for i, a := range args {
		switch a.text {
		case "-delete":
			out = append(out, Concern{Destructive, "it removes what it finds"})
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(args) && disk(args[i+1].text) {
				out = append(out, Concern{Destructive, "it writes to a disk"})
			}
		}
		if a.hides() && (i == 0 || !strings.HasPrefix(args[i-1].text, "-")) {
			out = append(out, Concern{Unclear, "some of its words are known only when it runs, and may be options"})
		}
	}
	return out
}

// rsync reaches other machines where a path has a host.
func rsync(args []word) []Concern {
	var out []Concern
	for _, a := range args {
		host, _, ok := strings.Cut(a.text, ":")
		if ok && !strings.HasPrefix(a.text, "-") && !strings.Contains(host, "/") || a.hides() {
			out = append(out, Concern{Network, "it reaches other machines"})
		}
		if strings.HasPrefix(a.text, "--del") || strings.HasPrefix(a.text, "--remove-source") {
			out = append(out, Concern{Destructive, "it removes files"})
		}
	}
	return out
}
