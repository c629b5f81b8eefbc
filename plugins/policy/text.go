package policy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/tureen-host/tureen/plugins/policy/shellcmd"
)

const (
	maxBrief   = 120 // bytes of a command within a sentence
	maxReasons = 6   // of a question, in words
	maxDetail  = 2 * maxCommand
)

// textQuestion is what the person reads above the detail.
func textQuestion(subject string, open []reason) string {
	return fmt.Sprintf("May the agent %s?\n%s", subject, list(open))
}

// list are the reasons, one a line, each once.
func list(open []reason) string {
	var lines []string
	seen := map[string]bool{}
	for _, r := range open {
		if seen[r.why] {
			continue
		}
		seen[r.why] = true
		if len(seen) > maxReasons {
			lines = append(lines, fmt.Sprintf("- and more of that kind (%d in all)", len(open)))
			break
		}
		lines = append(lines, "- "+visible(r.why))
	}
	return strings.Join(lines, "\n")
}

// textNever answers where nobody is asked.
func textNever(open []reason, child bool) string {
	what := "approvals are off in this session"
	if child {
		what = "a subagent gets no approvals"
	}
	return fmt.Sprintf("this needs an approval, and %s:\n%s\nDo not try it again, nor in another form. Find a way that needs no approval, or say in your answer what is missing and why.", what, list(open))
}

// textNobody answers where a question found nobody.
func textNobody(open []reason) string {
	return fmt.Sprintf("this needs an approval and nobody can be asked here:\n%s\nDo not try it again. Go on with what needs no approval, and say in your answer what is missing and why.", list(open))
}

// textRefused answers where the person said no.
func textRefused(subject, words string) string {
	const most = 2000
	text := fmt.Sprintf("the person refused to let you %s; do not work around it.", subject)
	if words = strings.TrimSpace(words); words != "" {
		text += " They said: " + cut(words, most) + "."
	}
	return text + " Go on without it, or stop and say why it is needed."
}

// textChanged answers where a yes is not about what there is now.
func textChanged(subject string) string {
	return fmt.Sprintf("what the person was asked about has changed since, so that the answer does not let you %s. Nothing was run or changed. Make the call again, and the person is asked about what there is now.", subject)
}

// textRule answers where a rule forbids.
func textRule(rule, what string) string {
	return fmt.Sprintf("refused: the rule %q of this session's policy forbids %s. Do not try it in another form; go on without it, or say in your answer what is missing.", rule, visible(brief(what)))
}

// textDenied answers where a kind of command is forbidden.
func textDenied(key, what string) string {
	return fmt.Sprintf("refused: the policy of this session says %s = \"deny\" (%s). Do not try it in another form; go on without it, or say in your answer what is missing.", key, visible(brief(what)))
}

// brief shortens a text for a sentence.
func brief(text string) string {
	return cut(strings.ReplaceAll(strings.ReplaceAll(text, shellcmd.Unknown, "…"), "\n", " "), maxBrief)
}

// cut shortens a text to at most n bytes, between code points.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}

// visible spells out characters that a terminal would not show as they are, so
// that the person sees what there is.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
