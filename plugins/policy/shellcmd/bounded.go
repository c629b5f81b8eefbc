package shellcmd

import (
	"fmt"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// patience is how long an analysis may take.
const patience = 3 * time.Second

// bounded runs f and answers for it where it takes too long or panics. A f that
// is late is left to end by itself; its size is bounded.
func bounded(f func() Line) Line {
	done := make(chan Line, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- unclear(fmt.Sprintf("the command line could not be checked: %.100v", r))
			}
		}()
		done <- f()
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line := <-done:
		return line
	case <-timer.C:
		return unclear("checking the command line took too long")
	}
}

// parse reads a text as bash does.
func parse(text string) (*syntax.File, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("it contains a NUL byte")
	}
	if strings.IndexByte(text, '\r') >= 0 {
		return nil, fmt.Errorf("it contains a carriage return, which is not what it seems")
	}
	if tooDeep(text) {
		return nil, fmt.Errorf("it is nested too deep")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err == nil {
		err = plainComments(file)
	}
	return file, err
}

// plainComments refuses comments that end in a backslash: bash ends them there,
// the parser does not.
func plainComments(file *syntax.File) (err error) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && (strings.Contains(c.Text, "\n") || strings.HasSuffix(c.Text, `\`)) {
			err = fmt.Errorf("a comment in it ends in a backslash")
		}
		return err == nil
	})
	return err
}

// What a text may have before it is parsed: the parser recurses, and a stack that
// grows without bound ends the process.
const (
	maxOpen       = 300  // brackets open at a time, whatever they mean
	maxBackquotes = 2000 // in all
	maxKeywords   = 500  // one after another
)

// tooDeep tells whether a text may nest deeper than can be parsed. It looks at
// characters only, so that it counts too much rather than too little.
func tooDeep(text string) bool {
	open, backquotes := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{':
			open++
		case ')', '}':
			open = max(0, open-1)
		case '`':
			backquotes++
		}
		if open > maxOpen || backquotes > maxBackquotes {
			return true
		}
	}
	return chained(text)
}

// chained tells whether there is a long run of words that each begin something.
func chained(text string) bool {
	run := 0
	for f := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;()", r) }) {
		if begins[f] || strings.HasPrefix(f, "<<") || len(f) < 3 {
			run++
		} else {
			run = 0
		}
		if run > maxKeywords && begins[f] {
			return true
		}
	}
	return false
}

var begins = set("if while until for case select time function coproc ! then do else elif {")
