package openai

import (
	"regexp"
	"sync"
)

// wording is a pattern that is compiled when it is first looked for: every
// process of the program loads this package, few of them ever see a refusal.
type wording func() *regexp.Regexp

// words makes a wording. A pattern that does not compile panics when it is used.
func words(pattern string) wording {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// MatchString tells whether the wording stands in a text.
func (w wording) MatchString(text string) bool { return w().MatchString(text) }

// FindStringSubmatch is the method of that name of regexp.Regexp.
func (w wording) FindStringSubmatch(text string) []string { return w().FindStringSubmatch(text) }
