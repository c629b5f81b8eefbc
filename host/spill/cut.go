package spill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
)

const (
	asciiPerToken = 3 // as llm.EstimateText counts; any other character is a token
	joiner        = '\u200d'
	// maxCluster bounds how far a cut moves so as not to part what is one letter
	// to the eye.
	maxCluster = 32
)

// headEnd is where the longest start of text ends that has at most so many tokens.
func headEnd(text string, tokens int) int {
	ascii, other := 0, 0
	for i, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
		if (ascii+asciiPerToken-1)/asciiPerToken+other > tokens {
			return whole(text, i)
		}
	}
	return len(text)
}

// tailStart is where the longest end of text begins that has at most so many tokens.
func tailStart(text string, tokens int) int {
	ascii, other := 0, 0
	for i := len(text); i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
		if (ascii+asciiPerToken-1)/asciiPerToken+other > tokens {
			return forward(text, i)
		}
		i -= size
	}
	return 0
}

// whole moves a cut back to where no mark or joined sign is parted from its letter;
// it stays where that is too far.
func whole(text string, cut int) int {
	at := cut
	for range maxCluster {
		if !parts(text, at) {
			return at
		}
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return cut
}

// forward is whole in the other direction.
func forward(text string, cut int) int {
	at := cut
	for range maxCluster {
		if !parts(text, at) {
			return at
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return cut
}

// parts tells whether a cut at that byte goes through one letter.
func parts(text string, at int) bool {
	if at <= 0 || at >= len(text) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return before == joiner || after == joiner || unicode.Is(unicode.M, after) || after >= 0x1f3fb && after <= 0x1f3ff
}

// lineEnd moves the end of a head to behind its last line break, where that is in
// its last quarter.
func lineEnd(text string, cut int) int {
	if i := strings.LastIndexByte(text[:cut], '\n'); i >= cut-cut/4 {
		return i + 1
	}
	return cut
}

// lineStart moves the start of a tail to behind its first line break, where that is
// in its first quarter.
func lineStart(text string, cut int) int {
	quarter := (len(text) - cut) / 4
	if i := strings.IndexByte(text[cut:cut+quarter], '\n'); i >= 0 {
		return cut + i + 1
	}
	return cut
}

// lines counts the lines of a text; a line break ends a line, it begins none.
func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func tokens(text string) int { return llm.EstimateText(text) }
