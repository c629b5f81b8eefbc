// Package shellcmd tells what a command line would run, without running it. It
// reads the line as bash does, walks into everything that bash would start, and
// says of each simple command what is known and what gives reason to ask (T16).
//
// It looks through the shell, not through programs: what a script, a makefile or
// a compiled program does is not its business.
package shellcmd

import (
	"path/filepath"
	"slices"
	"strings"
)

// Unknown stands in a text for a part that is known only when the line runs. It
// cannot occur in a word of bash.
const Unknown = "\x00"

// Kind is a reason to ask.
type Kind string

const (
	// Network commands reach other machines; that is what they are for.
	Network Kind = "network"
	// Destructive commands lose what cannot be brought back.
	Destructive Kind = "destructive"
	// Privilege commands act as somebody else.
	Privilege Kind = "privilege"
	// Unclear commands cannot be told from the line alone.
	Unclear Kind = "unclear"
)

// Concern is a reason to ask about a command. Why is a clause in plain words.
type Concern struct {
	Kind Kind
	Why  string
}

// Command is a simple command that the line would run, at any depth. Argv is
// empty where there is no program, as for an assignment.
type Command struct {
	Argv     []string // quotes gone; Unknown stands for what is not known
	Written  string   // where Argv is empty: what stands in the line
	Concerns []Concern
}

// Text is the command in one line, words joined by single spaces.
func (c Command) Text() string {
	if len(c.Argv) == 0 {
		return c.Written
	}
	return strings.Join(c.Argv, " ")
}

// Has tells whether there is a concern of a kind.
func (c Command) Has(kind Kind) bool {
	return slices.ContainsFunc(c.Concerns, func(n Concern) bool { return n.Kind == kind })
}

// Line is what a command line comes to.
type Line struct {
	Commands []Command
	// Writes are the files that redirections write; absolute where that is known.
	Writes []string
	// Touches are the paths among the words of programs that write them, in the
	// same form.
	Touches []string
}

// Has tells whether a command has a concern of a kind.
func (l Line) Has(kind Kind) bool {
	return slices.ContainsFunc(l.Commands, func(c Command) bool { return c.Has(kind) })
}

// Options place a line.
type Options struct {
	Dir string // absolute; where it starts
	// Home is what ~ and $HOME stand for, "" where that is not known.
	Home string
	// Inside tells whether an absolute path lies where the line may write. nil:
	// nowhere.
	Inside func(path string) bool
	// Resolve follows the symlinks of an absolute path. nil: there are none.
	Resolve func(path string) string
	// Exists tells whether there is something at an absolute path. nil: nothing.
	Exists func(path string) bool
	// Self is the program that asks, besides tureen, "" for none.
	Self string
}

// What is looked at, at most. Whatever is larger is unclear.
const (
	MaxBytes    = 64 << 10
	maxDepth    = 100  // of the tree
	maxNested   = 10   // of lines within lines
	maxCommands = 3000 // of a line, looked at
	maxChoices  = 16   // of values that variables may have, for one command
	maxWords    = 4096 // of one command
)

// Analyze tells what bash would run for text. It never fails: what it cannot
// tell is a command with an Unclear concern. It takes bounded time.
func Analyze(text string, o Options) Line {
	return bounded(func() Line {
		if len(text) > MaxBytes {
			return unclear("the command line is longer than can be checked")
		}
		// What is learned of variables, functions and directories in the first
		// pass holds for whatever stood before it in the second.
		w := newWalker(o)
		w.text(text, feed{})
		again := newWalker(o)
		again.facts = w.facts
		again.text(text, feed{})
		again.sameFile()
		return *again.line
	})
}

func unclear(why string) Line {
	return Line{Commands: []Command{{Written: "(the whole line)", Concerns: []Concern{{Unclear, why}}}}}
}

// Base is the name of a program, as it is looked up in tables: without its
// directory, in small letters, since some file systems do not tell them apart.
func Base(program string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe")
}
