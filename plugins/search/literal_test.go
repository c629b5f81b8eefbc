package search

import (
	"regexp/syntax"
	"testing"
)

func TestLiteralIsInEveryMatch(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"abc": "abc", `\w+Error\b`: "Error", "a|b": "", "(abc)+x?": "abc", "(?i)abc": "", "ab(?i)cde": "ab", "x{0,3}": "", "(yz){2}": "yz", "(yz)*q": "q", "[a]bc": "abc",
		"": "", "^$": "", "foo|foobar": "foo", "a\uFFFDb": "",
	} {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := literal(parsed); got != want {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
}
