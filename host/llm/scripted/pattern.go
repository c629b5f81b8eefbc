package scripted

import (
	"regexp"
	"sync"
)

// pattern is an expression that is compiled when it is first used: every process of
// the program loads this package, few of them serve a model. One that does not
// compile panics then.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
