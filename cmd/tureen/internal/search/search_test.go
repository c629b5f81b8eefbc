package search

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

func TestMatcherFindsWithoutRegardToCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ needle, text, want string }{
		{"error", "An ERROR here", "ERROR"},
		{"ÄPFEL", "zwei äpfel", "äpfel"},
		{"kelvin", "0 \u212aelvin", "\u212aelvin"},
		{"Straße", "STRAßE", "STRAßE"},
		{"СЛОВО", "одно слово", "слово"},
		{"a.*b", "aXXb a.*b", "a.*b"},
		{"\xff", "x\xfe", "\xfe"},
		{"aab", "aaab", "aab"},
		{"👩‍👧", "x👩‍👧", "👩‍👧"},
	} {
		from, to := NewMatcher(c.needle).Find([]byte(c.text))
		if from < 0 || c.text[from:to] != c.want {
			t.Errorf("%q in %q: %d to %d", c.needle, c.text, from, to)
		}
	}
	if from, _ := NewMatcher("aab").Find([]byte("aaa")); from >= 0 {
		t.Error("found what does not stand there")
	}
}

// answer is an event of one answer, its payload in the encoding of a writer.
func answer(t interface{ Fatal(...any) }, text, arguments string, encode func(any) ([]byte, error)) session.Event {
	data, err := encode(session.Assistant{Message: &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
		{Kind: llm.BlockText, Text: text}, {Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "c", Name: "shell", Arguments: arguments}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return session.Event{Seq: 7, Kind: session.KindMessageAssistant, Data: data}
}

// plainJSON leaves <, > and & as they are; asciiJSON writes all but ASCII letters
// and digits as \uXXXX.
func plainJSON(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(b.String()), err
}

func asciiJSON(v any) ([]byte, error) {
	data, err := plainJSON(v)
	var b strings.Builder
	for _, r := range string(data) {
		switch {
		case r > 0xffff:
			hi, lo := 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff
			b.WriteString(unicodeEscape(hi) + unicodeEscape(lo))
		case r >= 0x80:
			b.WriteString(unicodeEscape(r))
		default:
			b.WriteRune(r)
		}
	}
	return []byte(b.String()), err
}

func unicodeEscape(r rune) string {
	const hex = "0123456789ABCDEF"
	return `\u` + string([]byte{hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15]})
}

var writers = map[string]func(any) ([]byte, error){"html": json.Marshal, "plain": plainJSON, "ascii": asciiJSON}

func TestMatcherFindsWhatJSONEscapes(t *testing.T) {
	t.Parallel()
	text := "if a < b && c > d {\n\tprint(\"naïve — 👋\")\n}"
	arguments := `{"path":"caf\u00e9/menu.txt","text":"line one\nline \"two\" \ud83d\udc4b"}`
	for name, write := range writers {
		e := answer(t, text, arguments, write)
		for _, needle := range []string{"a < b", "&&", "{\n\tprint", `print("`, "NAÏVE", "ïve — 👋", "👋\")", "café/menu", "one\nline", `"two"`, `caf\u00e9`, "shell"} {
			if hits := NewMatcher(needle).In(e, Parts); len(hits) == 0 {
				t.Errorf("%s: %q is not found in %s", name, needle, e.Data)
			}
		}
		if hits := NewMatcher("a <  b").In(e, Parts); len(hits) > 0 {
			t.Errorf("%s: found %+v", name, hits)
		}
	}
}

// What the cheap look at the JSON passes over is not there: any piece of any text is
// found again, however it was written.
func TestMatcherPassesOverNothing(t *testing.T) {
	t.Parallel()
	runes := rapid.SampledFrom([]rune("abkKsSſ\u212a<>&\"\\/\n\t\x00\u2028é👋{}: "))
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.SliceOfN(runes, 1, 30).Draw(t, "text")
		from := rapid.IntRange(0, len(whole)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(whole)).Draw(t, "to")
		needle := string(whole[from:to])
		if rapid.Bool().Draw(t, "upper") {
			needle = strings.ToUpper(needle)
		}
		write := writers[rapid.SampledFrom([]string{"html", "plain", "ascii"}).Draw(t, "writer")]
		inner, err := write(map[string]string{"x": string(whole)})
		if err != nil {
			t.Fatal(err)
		}
		hits := NewMatcher(needle).In(answer(t, string(whole), strings.TrimSpace(string(inner)), write), []Part{Answer, Call})
		found := map[Part]bool{}
		for _, h := range hits {
			found[h.Part] = true
			if !strings.EqualFold(h.Match, needle) {
				t.Fatalf("found %q for %q", h.Match, needle)
			}
		}
		if !found[Answer] || !found[Call] {
			t.Fatalf("%q is found in %v", needle, found)
		}
	})
}

// What an event is found by is among its texts: a store that passes over events by those
// passes over no hit.
func TestN9_HitsStandInTheTextsOfTheirEvent(t *testing.T) {
	t.Parallel()
	runes := rapid.SampledFrom([]rune("abkKsSſ\u212aİ<>&\"\\/\n\té👋{}: "))
	texts := rapid.StringOfN(runes, 1, 20, -1)
	rapid.Check(t, func(t *rapid.T) {
		one, two, three := texts.Draw(t, "one"), texts.Draw(t, "two"), texts.Draw(t, "three")
		arguments, err := writers[rapid.SampledFrom([]string{"html", "plain", "ascii"}).Draw(t, "writer")](map[string]string{one: two})
		if err != nil {
			t.Fatal(err)
		}
		call := &llm.ToolCall{ID: "c", Name: three, Arguments: string(arguments)}
		for _, e := range []session.Event{
			session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, one+two)}),
			session.New(session.KindMessageAssistant, session.Assistant{Message: &llm.Message{Blocks: []llm.Block{
				{Kind: llm.BlockText, Text: one}, {Kind: llm.BlockReasoning, Text: two}, {Kind: llm.BlockToolCall, Call: call}, {Kind: llm.BlockText, Text: three}}}}),
			session.New(session.KindToolResult, session.ToolResult{Name: "read", Message: llm.ToolResult("c", one+two, false)}),
			session.New(session.KindToolSpilled, session.Spilled{Text: one + two}),
			session.New(session.KindQuestionAsked, session.Question{Text: one, Detail: two}),
			session.New(session.KindQuestionAnswered, session.Answer{Choices: []string{one, two}, Text: three}),
			session.New(session.KindCommandRun, session.CommandRun{Name: one, Arguments: two, Text: three, Error: one}),
		} {
			for _, whole := range []string{one, two, three, one + two} {
				m := NewMatcher(whole[:1+rapid.IntRange(0, len(whole)-1).Draw(t, "to")])
				if len(m.In(e, Parts)) == 0 {
					continue
				}
				if !slices.Contains(session.Saying, e.Kind) || !slices.ContainsFunc(session.Texts(e), func(text string) bool {
					at, _ := m.Find([]byte(text))
					return at >= 0
				}) {
					t.Fatalf("%s is found by %q, its texts are %q", e.Data, string(m.needle.runes), session.Texts(e))
				}
			}
		}
	})
	for _, kind := range Kinds(Parts) {
		if !slices.Contains(session.Saying, kind) {
			t.Errorf("%s is searched and says nothing", kind)
		}
	}
}

func TestHitShowsItsLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100)
	e := answer(t, "first\n"+long+" Needle "+long+"\nneedle last", `{}`, json.Marshal)
	hits := NewMatcher("needle").In(e, []Part{Answer})
	if len(hits) != 1 {
		t.Fatalf("hits %+v", hits)
	}
	h := hits[0]
	if h.Seq != 7 || h.Kind != session.KindMessageAssistant || h.Part != Answer || h.Match != "Needle" || h.Matches != 2 ||
		h.Before != "…"+strings.Repeat("ä", 39)+" " || h.After != " "+strings.Repeat("ä", 79)+"…" {
		t.Errorf("hit %+v", h)
	}
}

func TestTextsOfEveryPart(t *testing.T) {
	t.Parallel()
	user := func(source session.Source) session.Event {
		return session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, "soup"), Source: source})
	}
	result := func(p session.ToolResult) session.Event {
		p.Message = llm.ToolResult("c", "soup", false)
		return session.New(session.KindToolResult, p)
	}
	for _, c := range []struct {
		event session.Event
		part  Part
	}{
		{user(session.SourceOwner), Prompt}, {user(session.SourceSteer), Prompt}, {user(session.SourceContext), Notice},
		{user(session.SourcePlugin), Notice}, {user(session.SourceCheckpoint), Checkpoint},
		{answer(t, "soup", "", json.Marshal), Answer}, {answer(t, "", "soup", json.Marshal), Call},
		{session.New(session.KindMessageAssistant, session.Assistant{Message: &llm.Message{Blocks: []llm.Block{{Kind: llm.BlockReasoning, Text: "soup"}}}}), Reasoning},
		{result(session.ToolResult{Name: "shell"}), Result}, {result(session.ToolResult{Name: "shell", Spilled: 4}), ""}, {result(session.ToolResult{Code: "TRIMMED"}), ""},
		{session.New(session.KindToolSpilled, session.Spilled{Text: "soup"}), Result},
		{session.New(session.KindQuestionAsked, session.Question{Detail: "soup"}), Question},
		{session.New(session.KindQuestionAnswered, session.Answer{Choices: []string{"soup"}}), Question},
		{session.New(session.KindCommandRun, session.CommandRun{Name: "soup"}), Command},
		{session.Event{Kind: session.KindMessageUser, Data: json.RawMessage(`{"message": "soup"}`)}, ""},
		{session.New(session.KindMessageUser, session.Message{}), ""},
	} {
		hits := NewMatcher("SOUP").In(c.event, Parts)
		if c.part == "" && len(hits) > 0 || c.part != "" && (len(hits) != 1 || hits[0].Part != c.part) {
			t.Errorf("%s %s: hits %+v, want %q", c.event.Kind, c.event.Data, hits, c.part)
		}
	}
}

func BenchmarkPassOver(b *testing.B) {
	data, _ := json.Marshal(session.ToolResult{Name: "shell", Message: llm.ToolResult("c", strings.Repeat("if a < b {\n\treturn \"x\"\n}\n", 20), false)})
	e, m := session.Event{Kind: session.KindToolResult, Data: data}, NewMatcher("needle in it")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if len(m.In(e, Parts)) > 0 {
			b.Fatal("found")
		}
	}
}
