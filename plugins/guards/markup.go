package guards

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

var (
	// markup begins a call in one of the notations that models were trained on.
	markup = regexp.MustCompile(`(?im)^\s*(?:<\s*(?:antml:|minimax:)?(?:tool_?calls?|tool_use|function_?calls?|function|invoke|call_tool|use_mcp_tool)\b[^>\n]*>|<[|｜]\s*(?:DSML|tool|function|python_tag)[^>\n]{0,60}>|\[tool_?calls?\]|<｜[^>\n]{0,60}｜>)`)
	// typed begins one that looks like a line of code.
	typed = regexp.MustCompile(`(?m)^\s*(functions\.|tools\.|to=functions\.|default_api\.)?([A-Za-z0-9_-]{1,64})\s*\(\s*(\{|[a-z_]+\s*=)`)
	// example tells that what follows is shown, not meant.
	example = regexp.MustCompile(`(?i)\b(?:examples?|format|looks? like|syntax|such as|template|would be|like this|e\.g|notation|markup|documented|documentation|schema)\b`)
	word    = regexp.MustCompile(`[A-Za-z0-9_-]+`)
)

// endsInTypedCall tells whether a text ends with a call of one of the tools, written
// out. Within a code block it counts only where nothing but an announcement stands
// before it: other code blocks are answers about markup.
func endsInTypedCall(text string, tools func() []string) bool {
	if lead, _, fenced := endsInFence(text); fenced {
		if lead != "" && (!announces(lead, nil) || example.MatchString(tail(lead))) {
			return false
		}
		body := inFence(text)
		return markup.MatchString(body) && namesTool(body, tools()) || isCallObject(body, tools) || isTypedCode(body, tools)
	}
	if lead, last := lastParagraph(text); isCallObject(text, tools) || isCallObject(last, tools) && announces(lead, nil) {
		return true
	}
	outside := maskFences(text)
	if at := markup.FindStringIndex(outside); at != nil {
		return closes(text) && !example.MatchString(tail(text[:at[0]])) && namesTool(text[at[0]:], tools())
	}
	if at := typed.FindStringIndex(outside); at != nil {
		return !example.MatchString(tail(text[:at[0]])) && isTypedCode(text[at[0]:], tools)
	}
	return false
}

// isCallObject tells whether a text is nothing but the JSON of a call, or of a list
// of calls.
func isCallObject(text string, tools func() []string) bool {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return false
	}
	var one map[string]json.RawMessage
	var many []map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &one) == nil {
		many = append(many, one)
	} else if json.Unmarshal([]byte(text), &many) != nil || len(many) == 0 {
		return false
	}
	return !slices.ContainsFunc(many, func(o map[string]json.RawMessage) bool { return !callObject(o, tools) })
}

// lastParagraph splits a text before its last paragraph.
func lastParagraph(text string) (lead, last string) {
	at := strings.LastIndex(text, "\n\n")
	if at < 0 {
		return "", text
	}
	return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at:])
}

// callObject: {"name": TOOL, "arguments": …} in its usual spellings, and nothing else.
func callObject(o map[string]json.RawMessage, tools func() []string) bool {
	var name string
	arguments := false
	for key, value := range o {
		switch key {
		case "name", "tool", "tool_name", "function":
			if json.Unmarshal(value, &name) != nil { // {"function": {"name": …}}
				var inner map[string]json.RawMessage
				return json.Unmarshal(value, &inner) == nil && callObject(inner, tools)
			}
		case "arguments", "parameters", "args", "input", "tool_input":
			arguments = true
		case "type", "id":
		default:
			return false
		}
	}
	return name != "" && arguments && slices.Contains(tools(), name)
}

// isTypedCode tells whether a text is nothing but functions.TOOL({…}) and the like.
func isTypedCode(text string, tools func() []string) bool {
	text = strings.TrimSpace(text)
	m := typed.FindStringSubmatch(text)
	return m != nil && strings.HasPrefix(text, strings.TrimSpace(m[0])) && strings.HasSuffix(strings.TrimRight(text, ";"), ")") && slices.Contains(tools(), m[2])
}

// namesTool tells whether a text holds the name of a tool as a word.
func namesTool(text string, tools []string) bool {
	return slices.ContainsFunc(word.FindAllString(text, 200), func(w string) bool { return slices.Contains(tools, w) })
}

// closes tells whether a text ends as markup does, and not as prose.
func closes(text string) bool { return strings.ContainsAny(text[len(text)-1:], ">]})") }

func tail(text string) string { return text[max(0, len(text)-200):] }

var fence = regexp.MustCompile("(?m)^[ \t]*```[ \t]*([A-Za-z0-9_+-]*)[ \t]*$")

// shellFence are the languages of code blocks that hold commands.
var shellFence = map[string]bool{"bash": true, "sh": true, "shell": true, "console": true, "zsh": true}

// endsInFence tells whether a text ends with a code block, what stands before it
// and the block's language in small letters.
func endsInFence(text string) (lead, language string, fenced bool) {
	marks := fence.FindAllStringSubmatchIndex(text, -1)
	n := len(marks)
	if n < 2 || n%2 == 1 || marks[n-1][1] != len(text) {
		return "", "", false
	}
	open := marks[n-2]
	return strings.TrimSpace(text[:open[0]]), strings.ToLower(text[open[2]:open[3]]), true
}

// inFence is what stands in the code block at the end of a text.
func inFence(text string) string {
	marks := fence.FindAllStringIndex(text, -1)
	return strings.TrimSpace(text[marks[len(marks)-2][1]:marks[len(marks)-1][0]])
}

// maskFences blanks the code blocks out, so that offsets stay.
func maskFences(text string) string {
	marks := fence.FindAllStringIndex(text, -1)
	out := []byte(text)
	for i := 0; i+1 < len(marks); i += 2 {
		for at := marks[i][0]; at < marks[i+1][1]; at++ {
			if out[at] != '\n' {
				out[at] = ' '
			}
		}
	}
	return string(out)
}
