package shellcmd

import "strings"

// tureenReads are the commands of tureen that only tell something. The others
// answer questions, trust profiles, steer and remove sessions, or run an agent
// under another policy: that is for the person.
var tureenReads = map[string]map[string]bool{
	"version": nil, "help": nil, "completion": nil, "--version": nil, "--help": nil, "-h": nil,
	"session": set("list show"), "profile": set("list show check"),
}

// itself tells whether a program is tureen, by its name or as the one that asks.
func (w *walker) itself(base string) bool {
	return base == "tureen" || w.o.Self != "" && base == Base(w.o.Self)
}

func steersItself(args []word) []Concern {
	if len(args) > 0 {
		words, known := tureenReads[args[0].text]
		switch {
		case !known:
		case words == nil, len(args) > 1 && words[args[1].text]:
			return nil
		}
		if last := args[len(args)-1].text; (last == "--help" || last == "-h") && !some(args[:len(args)-1], func(a word) bool { return a.unknown || strings.HasPrefix(a.text, "-") }) {
			return nil
		}
	}
	return []Concern{{Privilege, "it runs or steers an agent in the place of the person"}}
}
