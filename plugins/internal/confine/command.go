package confine

import (
	"encoding/json"
	"os"
)

// entry, as the first argument of the program, makes it confine itself and become
// the command that follows; see init.
const entry = "__confined"

// self is the running program, also where its file has been replaced since.
const self = "/proc/self/exe"

// Command returns the argv of a process that binds itself and then becomes argv by
// exec, so that its id, its group and what it has inherited stay. argv[0] is an
// absolute path. enforced is false, and argv stands, where nothing is bound or
// nothing can be: ask Enforced why.
func Command(b Bounds, argv []string) (wrapped []string, enforced bool) {
	if _, ok := Enforced(); b.Free() || !ok {
		return argv, false
	}
	text, err := json.Marshal(b)
	if err != nil {
		panic("confine: bounds are no JSON: " + err.Error()) // they are strings
	}
	return append([]string{self, entry, string(text)}, argv...), true
}

// init runs before main, in the program and in test binaries alike, once the few
// packages are ready that this one needs. In every other process it costs one
// comparison.
func init() {
	if len(os.Args) > 3 && os.Args[1] == entry {
		os.Exit(become(os.Args[2], os.Args[3:]))
	}
}
