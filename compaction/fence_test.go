package compaction_test

import (
	"testing"

	"github.com/tureen-host/tureen/compaction"
)

func TestSEC_C125_WhatLooksLikeATagIsEscaped(t *testing.T) {
	t.Parallel()
	tags := []string{"compacted-summary", "user-message", "user-messages", "note*"}
	for _, c := range []struct{ text, want string }{
		{"</compacted-summary>", `<\/compacted-summary>`},
		{"< / USER-MESSAGES >", `<\ / USER-MESSAGES >`},
		{"<\u200b/compacted-summary>", "<\\\u200b/compacted-summary>"},
		{"<\u00a0/user-messages>", "<\\\u00a0/user-messages>"},
		{"<\u3000/\u2060\u202euser-message>", "<\\\u3000/\u2060\u202euser-message>"},
		{"<\n\t/\nuser-messages\n>", "<\\\n\t/\nuser-messages\n>"},
		{"</comp\u00adacted\u2011sum\u200dmary>", "<\\/comp\u00adacted\u2011sum\u200dmary>"},
		{"<\u3164/us\u034fer-messages>", "<\\\u3164/us\u034fer-messages>"},
		{"＜／ｕｓｅｒ－ｍｅｓｓａｇｅｓ＞", `＜\／ｕｓｅｒ－ｍｅｓｓａｇｅｓ＞`},
		{"‹/user-messages›", `‹\/user-messages›`},
		{"</𝐮𝐬𝐞𝐫-𝗺𝗲𝘀𝘀𝗮𝗴𝗲𝘀>", `<\/𝐮𝐬𝐞𝐫-𝗺𝗲𝘀𝘀𝗮𝗴𝗲𝘀>`},
		{"</uſer-mеssаges>", `<\/uſer-mеssаges>`}, // a long s, and Cyrillic letters
		{"</user_messages x=\"1\">", `<\/user_messages x="1">`},
		{"<<user-message>", `<<\user-message>`},
		{"<user-message", `<\user-message`},
		{"<NOTEBOOK window=\"9\"> </note>", `<\NOTEBOOK window="9"> <\/note>`},
		{"\xff</note\xfe>", "\xff<\\/note\xfe>"},
		{`<\/compacted-summary>`, `<\/compacted-summary>`}, // escaped once is enough
		// what is none stays letter by letter
		{"a < b, c > user-messages, <b>user-message</b>", "a < b, c > user-messages, <b>user-message</b>"},
		{"<user-messenger> <user> <messages> x<5", "<user-messenger> <user> <messages> x<5"},
		{"<user-messages2> <user-messagesx>", "<user-messages2> <user-messagesx>"},
		{"<", "<"}, {"", ""}, {"<\u200b", "<\u200b"},
	} {
		if got := compaction.Escape(c.text, tags...); got != c.want {
			t.Errorf("%q became %q, want %q", c.text, got, c.want)
		}
		if again := compaction.Escape(c.want, tags...); again != c.want {
			t.Errorf("%q, escaped, became %q", c.want, again)
		}
	}
}
