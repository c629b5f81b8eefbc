package llm_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
)

// Letters of scripts without spaces, and emoji, count 0.5 to 1.6 tokens each: by
// letter, not by byte (C078).
func TestC2_C078_ScriptsAreCountedByLetter(t *testing.T) {
	t.Parallel()
	for name, sample := range map[string]string{
		"han":    "今天天气很好，我们去公园散步，然后在湖边的小店里喝了一杯热茶。他说这个计划需要三个月才能完成。",
		"kana":   "きょうはとてもいいてんきですね。ともだちといっしょにこうえんをさんぽして、コーヒーをのみました。",
		"hangul": "오늘은날씨가매우좋습니다친구와함께공원을산책하고호숫가의작은가게에서따뜻한차를마셨습니다",
		"emoji":  "🙂🚀🎉🔥👍🐱🌍🍕🎧📦🧪🪴",
	} {
		text := strings.Repeat(sample, 10_000/utf8.RuneCountInString(sample)+1)
		if per := float64(llm.EstimateText(text)) / float64(utf8.RuneCountInString(text)); per < 0.5 || per > 1.6 {
			t.Errorf("%s: %.2f tokens a letter", name, per)
		}
	}
}

// ASCII is never counted below what two vocabularies in use make of it, and code and
// JSON, which fill most contexts, are within 30 % (measured with cl100k_base and
// o200k_base, which differ by one token here). Plain English has longer words: there
// the estimate is too high by more.
func TestC2_C078_ASCIIErrsOnTheHighSide(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text     string
		measured int
		above    float64
	}{
		"prose": {proseSample, 103, 0.6}, "code": {codeSample, 115, 0.3}, "json": {jsonSample, 82, 0.3},
	} {
		got := llm.EstimateText(tt.text)
		if off := float64(got)/float64(tt.measured) - 1; off < 0 || off > tt.above {
			t.Errorf("%s: %d tokens, measured %d (%+.0f %%)", name, got, tt.measured, 100*off)
		}
	}
}

const (
	proseSample = `A session is an append-only log of events. What the model sees next is computed from it, and so is everything else: the queue of input, the state of a turn, the figures that the person reads. When the context runs low, the strategy of the profile decides what replaces what; nothing is deleted, replaced messages are only hidden. After a crash the log is repaired by closing what was open, and the task goes on where it stopped, with an honest word about calls whose outcome nobody knows.`
	codeSample  = `func (l *lineage) extend(e *encoder, messages []*llm.Message, last llm.Role) {
	for _, m := range messages {
		before := len(l.bytes)
		if last != "" {
			l.bytes = append(l.bytes, ',')
		}
		start := len(l.bytes)
		l.bytes = e.quirk.appendMessage(l.bytes, m)
		if len(l.bytes) == start {
			l.bytes = l.bytes[:before]
		}
		l.ends = append(l.ends, len(l.bytes))
	}
}`
	jsonSample = `{"seq":41,"kind":"tool.result","turn":2,"step":7,"data":{"name":"grep","code":"","message":{"role":"tool","call_id":"call_7","blocks":[{"kind":"text","text":"host/agent/turn.go:17: func (a *Agent) turn(ctx context.Context)"}]},"millis":12},"op":{"kind":"append"}}`
)
