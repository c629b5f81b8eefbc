package llm

import (
	"encoding/json"
	"unicode/utf8"
)

// Overheads of the token estimate, per block and per message (C2).
const (
	blockOverhead = 4
	roleOverhead  = 4
)

// EstimateText estimates the tokens of a text: 3.0 ASCII characters a token,
// one token for every other character. It is meant to err on the high side
// until an endpoint's own ratio is learned.
func EstimateText(text string) int {
	ascii, other := 0, 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			ascii++
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		other++
		i += size
	}
	return (ascii+2)/3 + other
}

// Estimate estimates the tokens of a message on the wire, reasoning included.
func Estimate(m *Message) int {
	tokens := roleOverhead
	for _, b := range m.Blocks {
		tokens += blockOverhead
		if b.Call != nil {
			tokens += EstimateText(b.Call.Name) + EstimateText(b.Call.Arguments)
			continue
		}
		tokens += EstimateText(b.Text)
	}
	return tokens
}

// EstimateTools estimates the tokens of the tool declarations.
func EstimateTools(tools []Tool) int {
	if len(tools) == 0 {
		return 0
	}
	b, _ := json.Marshal(tools)
	return EstimateText(string(b)) + blockOverhead
}
