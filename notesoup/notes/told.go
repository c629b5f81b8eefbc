package notes

import (
	"strconv"
	"strings"
)

// Told is what the receipt of a write says, as a log keeps it.
type Told struct {
	Address    string
	By         By // how the text came to be: a note that an append made was written
	MovedTo    string
	Rev, Was   string
	CodePoints int // of the text that is there now
}

// ReadReceipt reads the line of a Receipt. It is false for anything else, and for
// what changed nothing.
func ReadReceipt(line string) (Told, bool) {
	words, ok := receiptWords(line)
	if !ok || len(words) < 3 || words[0] != "ok" || words[1] != "notes_write" && words[1] != "notes_edit" {
		return Told{}, false
	}
	t, created := Told{Address: words[2], By: Edited}, false
	if words[1] == "notes_write" {
		t.By = Written
	}
	for _, word := range words[3:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "mode":
			if value == string(Append) {
				t.By = Appended
			}
		case "created":
			created = true
		case "changed":
			return Told{}, false
		case "moved_to":
			if t.By, t.MovedTo = Moved, value; value == Trash {
				t.By, t.MovedTo = Deleted, ""
			}
		case "rev":
			t.Rev = value
		case "was":
			t.Was = value
		case "cp":
			count, _, _ := strings.Cut(value, "(")
			t.CodePoints, _ = strconv.Atoi(count)
		}
	}
	if created {
		t.By = Written
	}
	return t, true
}

// receiptWords splits a line of words, some of which, or whose values, are quoted.
func receiptWords(line string) (words []string, ok bool) {
	for line != "" {
		end := strings.IndexAny(line, ` "`)
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		if line = line[end:]; strings.HasPrefix(line, `"`) {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, false
			}
			text, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, false
			}
			word, line = word+text, line[len(quoted):]
		}
		words = append(words, word)
		line = strings.TrimPrefix(line, " ")
	}
	return words, true
}
