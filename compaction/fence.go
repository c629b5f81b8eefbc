package compaction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes a text unable to write the tags of the fence that it is put into
// (C125): a backslash goes behind each bracket that such a tag could begin with. What
// a reader would take for the tag counts as one, whatever stands between the bracket
// and the word and between its letters, and whichever look-alikes it is written in. A
// tag that ends with * stands for all words that begin so. What is escaped already
// stays.
func Escape(text string, tags ...string) string {
	if !strings.ContainsFunc(text, opens) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		b.WriteString(text[i : i+width(text[i:])])
		if rest := text[i+width(text[i:]):]; opens(r) && !strings.HasPrefix(rest, `\`) && begins(rest, tags) {
			b.WriteByte('\\')
		}
	}
	return b.String()
}

// width is the bytes of the first code point, one where they are none.
func width(text string) int { _, n := utf8.DecodeRuneInString(text); return n }

// opens tells whether a rune is, or looks like, an opening angle bracket.
func opens(r rune) bool { return strings.ContainsRune("<＜﹤‹˂〈⟨〈❬❮≪《≺", r) }

// begins tells whether one of the tags begins a text, leaving out what is no letter.
func begins(text string, tags []string) bool {
	for i, r := range text {
		if opens(r) || r == '>' {
			return false
		}
		if solid(r) {
			for _, tag := range tags {
				if matches(text[i:], tag) {
					return true
				}
			}
			return false
		}
	}
	return false
}

// matches compares letter by letter.
func matches(text, tag string) bool {
	tag, prefix := strings.CutSuffix(tag, "*")
	want := []rune(strings.Map(func(r rune) rune {
		if solid(r) {
			return folded(r)
		}
		return -1
	}, tag))
	got := 0
	for _, r := range text {
		switch {
		case got == len(want):
			if prefix || !solid(r) && !invisible(r) && r != '_' {
				return true
			}
			if solid(r) || r == '_' {
				return false
			}
		case solid(r):
			if folded(r) != want[got] {
				return false
			}
			got++
		case opens(r) || r == '>' || r == '/':
			return false
		}
	}
	return got == len(want)
}

// solid tells whether a rune is a letter or digit that can be seen.
func solid(r rune) bool { return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !invisible(r) }

// invisible runes take no room of their own; the four are letters that are blank.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.M, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || strings.ContainsRune("\u115f\u1160\u3164\uffa0", r)
}

// alike are letters of other scripts that look like the ones tags are made of.
var alike = strings.NewReplacer("а", "a", "с", "c", "е", "e", "ԁ", "d", "ɡ", "g", "ӏ", "l", "м", "m", "о", "o", "р", "p", "ѕ", "s", "т", "t", "у", "y", "ԝ", "w",
	"α", "a", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "ν", "n", "ɩ", "l")

// folded is the plain small letter that a letter looks like.
func folded(r rune) rune {
	switch {
	case r >= 0xff21 && r <= 0xff5a: // full width
		r -= 0xff21 - 'A'
	case r >= 0x1d400 && r < 0x1d6a4: // mathematical
		if r = (r - 0x1d400) % 52; r < 26 {
			r += 'A'
		} else {
			r += 'a' - 26
		}
	case r >= 0x24b6 && r <= 0x24e9: // circled
		r = 'a' + (r-0x24b6)%26
	}
	r = unicode.ToLower(unicode.ToUpper(r))
	if r < utf8.RuneSelf {
		return r
	}
	plain, _ := utf8.DecodeRuneInString(alike.Replace(string(r)))
	return plain
}
