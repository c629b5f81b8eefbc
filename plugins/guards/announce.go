package guards

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// finding is what a final answer turned out to be.
type finding int

const (
	nothing   finding = iota // an answer
	announced                // it ends with a step that it announces
	typedCall                // it ends with a call, written as text
)

// judge looks at the text of an answer that holds no call. It would rather miss an
// announcement than take an answer for one: only what stands at the very end
// counts, said in the first person about the next moment, without a condition and
// not put to the person. tools names the tools on offer; it is asked only where the
// text looks like a typed-out call.
func judge(text string, tools func() []string) finding {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return nothing
	case endsInTypedCall(text, tools):
		return typedCall
	}
	if lead, language, fenced := endsInFence(text); fenced {
		if shellFence[language] && announces(lead, inspecting) {
			return announced
		}
		return nothing
	}
	if announces(text, nil) {
		return announced
	}
	return nothing
}

// A sentence that announces: perhaps some fillers, the speaker, perhaps adverbs,
// and a verb of what agents do.
const (
	fillers = `(?:(?:ok|okay|alright|all right|right|great|good|perfect|excellent|sure|got it|understood|noted|thanks|thank you|so|now|next|first|second|then|and|but|also|finally|hmm|wait|oh|ah|yes|interesting|no problem|of course|certainly|absolutely|after that|from there|to begin|to start|to do (?:so|this|that)|as a (?:first|next) step|(?:step|phase|task) \d+)\b[\s,.:;!)—–-]*)*`
	speaker = `(?:let me|let['’]s|i['’]ll|i will|i shall|i['’]m going to|i am going to|i['’]m about to|we(?:['’]ll| will) now|i (?:need to|should))`
	adverbs = `(?:\s+(?:now|also|just|first|next|then|quickly|briefly|actually|again|directly|immediately|carefully|simply|try to|go ahead and|(?:start|begin|continue|proceed) by))*`
	verbs   = `(?:re-?read|read|double-?check|check|look|inspect|examine|review|open|view|list|search|grep|find|scan|explore|analy[sz]e|investigate|trace|dig|dive|see|verify|validate|confirm|test|re-?run|run|execute|build|compile|install|fetch|download|query|load|write|create|add|implement|edit|update|modify|change|fix|patch|refactor|rewrite|rename|remove|delete|replace|move|apply|commit|push|start|begin|proceed|continue|try|retry|debug|clean|configure|set up|generate|gather|collect|get|locate|identify|determine|figure out|adjust|insert|restore|stage|tag|publish|merge|dispatch|spawn|re-?install|recompile|re-?build|restructure|simplify|improve|correct|resolve|address|switch|undo|do (?:this|that|it|the)|go back|take a|have a (?:closer |quick |deeper )?look|make|use|launch|restart|reproduce|revert|format|extract|convert|migrate|copy|clone|compare|measure|deploy|finish|complete|reading|checking|looking|inspecting|examining|running|searching|exploring|writing|creating|fixing)\b`
	gerund  = `(?:reading|checking|looking|inspecting|examining|reviewing|opening|listing|searching|scanning|exploring|analy[sz]ing|investigating|verifying|testing|running|executing|building|compiling|installing|fetching|downloading|loading|writing|creating|adding|implementing|editing|updating|modifying|fixing|patching|refactoring|removing|deleting|applying|committing|pushing|starting|beginning|proceeding|continuing|moving on|calling|performing|trying)\b`
)

var (
	// The speaker may also stand behind a comma or a dash: "Since it fails, let me …".
	announcement = regexp.MustCompile(`(?i)(?:^` + fillers + `|[,;:—–]\s*(?:so|but|now|next)?\s*|\s-\s|\bso )(` + speaker + adverbs + `\s+` + verbs + `)`)
	// A text that breaks off behind a colon, whatever the verb: "Let me mark that:",
	// "Now update the table:".
	brokenOff = regexp.MustCompile(`(?i)^` + fillers + `(?:` + speaker + adverbs + `\s+\w|now (?:` + verbs + `))[^?]*:$`)
	// "Executing step 2:", "Proceeding to the next step."
	stepBegun = regexp.MustCompile(`(?i)^` + fillers + `(?:executing|starting|running|performing|beginning|doing|proceeding (?:to|with)|moving (?:on )?to|continuing (?:to|with)|on to)\s+(?:the )?(?:next (?:step|task|phase)|(?:step|task|phase)\s+(?:\d+|one|two|three|four|five))(?:\s+of\s+\w+)?\s*(?:[.:…]*$|[:(—–-]\s*(?:` + verbs + `|` + gerund + `))`)
	// "Running the tests now...", "I'm now reading the config:"
	underWay  = regexp.MustCompile(`(?i)^` + fillers + `(?:i['’]m (?:now )?|i am (?:now )?|now )?` + gerund)
	goingOn   = regexp.MustCompile(`(?i)(?:\.\.\.|…|:|\bnow[.!]?)$`)
	holdOn    = regexp.MustCompile(`(?i)^` + fillers + `(?:please )?(?:wait|hold on|bear with me|stand by|one moment|just a (?:moment|second|minute)|give me a (?:moment|second|minute))\b[^.]{0,60}\b(?:while|as) i\b`)
	finite    = regexp.MustCompile(`(?i)\b(?:is|are|was|were|has|have|had|shows?|showed|gives?|gave|takes?|took|works?|worked|fails?|failed|pass|passes|passed|needs?|requires?|returns?|returned|prints?|makes?|made|means?|would|could|should|can|done|complete|completed|finished|succeeded)\b`)
	aftermath = regexp.MustCompile(`(?i)^(?:this|that|it) (?:will|should|may|might|lets|gives|way)\b`)
)

// What makes an announcement an offer, a plan for later, or a manner of speaking.
var (
	harmlessIf = regexp.MustCompile(`(?i)\b(?:check|checking|see|seeing|verify|confirm|determine|find out|test|figure out|look)(?:\s+[\w'’-]+){0,4}?\s+if\b|\b(?:happens?|fails?|occurs?|works|behaves?)\s+when\b|\bonce (?:more|again)\b`)
	condition  = regexp.MustCompile(`(?i)\b(?:if|once|when|whenever|unless|until|as soon as|after you|before you|should you|provided|after (?:it|they|the \w+|that \w+) (?:is|are|has|have|finish(?:es)?|completes?|settles?|ends?|returns?|reports?|arrives?))\b`)
	deferral   = regexp.MustCompile(`(?i)\b(?:later|tomorrow|tonight|afterwards?|eventually|some day|next (?:time|week|month|session|sprint|release|turn|conversation)|follow-?up|from now on|going forward|in the background|in (?:the )?future|another time|on request|in the next (?:message|response|session)|in (?:a|one) (?:separate|later|future|subsequent)|in \d+ (?:seconds|minutes|hours|days))\b`)
	addressed  = regexp.MustCompile(`(?i)\b(?:you(?:['’]d| would| want| wish| prefer| like| need| confirm| approve| agree| decide| say| tell| give| send| provide| can| could| may| might| should)|your (?:approval|confirmation|go-ahead|permission|consent|answer|reply|input|feedback|response|decision|call|review)|let me know|get back to|with you|please (?:confirm|provide|tell|give|send|let|share|run|try|check|open|paste|note))\b`)
	idiom      = regexp.MustCompile(`(?i)\b(?:look forward|make sense|make it clear|make clear|make one thing|make a note|take a (?:break|step back)|take a moment to (?:thank|explain)|add (?:that|one|a (?:note|caveat|remark|word))|get this straight|find it (?:hard|odd|strange)|see to it|see it as|finish here|continue to be|start over with|check back|begin by saying|start by saying|use (?:this|that|these|those|it) (?:as|from))\b`)
	answered   = regexp.MustCompile(`:\s+\S`)
	asksPerson = regexp.MustCompile(`(?i)\b(?:should|shall|may|can|could) (?:i|we)\b|\b(?:you|your)\b|\bok(?:ay)? to\b|\bsound good\b|\bis that\b|\bis this\b`)
	// inspecting are the verbs whose command, typed below them, should have been a call.
	inspecting = regexp.MustCompile(`(?i)\b(?:read|check|look|inspect|examine|view|list|search|grep|find|scan|see|verify|test|re-?run|run|execute|build|compile|install)$`)
)

// announces tells whether the last sentence of a text announces a step. verb, where
// not nil, restricts the announcement.
func announces(text string, verb *regexp.Regexp) bool {
	sentences := lastSentences(text)
	if len(sentences) == 0 || questioned(text) {
		return false
	}
	last := sentences[len(sentences)-1]
	if aftermath.MatchString(last) && len(sentences) > 1 {
		last = sentences[len(sentences)-2]
	}
	return announcing(last, len(sentences) == 1 && len(last) == len(plain(text)), verb)
}

// announcing judges one sentence; alone tells that there is no other.
func announcing(sentence string, alone bool, verb *regexp.Regexp) bool {
	if len(sentence) > 500 || strings.HasSuffix(sentence, "?") || strings.Count(sentence, `"`)%2 == 1 || strings.HasSuffix(sentence, "”") {
		return false
	}
	if verb == nil && brokenOff.MatchString(sentence) && !addressed.MatchString(sentence) {
		return true
	}
	if conditional(sentence) {
		return false
	}
	if m := announcement.FindStringSubmatchIndex(sentence); m != nil {
		said := sentence[m[2]:m[3]]
		quoted := strings.Count(sentence[:m[2]], `"`)%2 == 1
		return !quoted && !idiom.MatchString(sentence[m[2]:]) && !answered.MatchString(sentence[m[3]:]) && (verb == nil || verb.MatchString(said))
	}
	switch {
	case verb != nil:
		return false
	case stepBegun.MatchString(sentence), holdOn.MatchString(sentence):
		return true
	}
	return underWay.MatchString(sentence) && !finite.MatchString(sentence) && !answered.MatchString(sentence) &&
		(goingOn.MatchString(sentence) || alone && len(sentence) < 120)
}

func conditional(sentence string) bool {
	sentence = harmlessIf.ReplaceAllString(sentence, "")
	return condition.MatchString(sentence) || deferral.MatchString(sentence) || addressed.MatchString(sentence)
}

// questioned tells whether the end of a text puts something to the person.
func questioned(text string) bool {
	const end = 600
	text = plain(text)
	if len(text) > end {
		text = text[len(text)-end:]
	}
	for before, rest, more := strings.Cut(text, "?"); more; before, rest, more = strings.Cut(rest, "?") {
		if asksPerson.MatchString(before[strings.LastIndexAny(before, ".!\n:")+1:]) {
			return true
		}
	}
	return false
}

var (
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	listItem   = regexp.MustCompile(`^\s*(?:[-*+•]|\d+[.)])\s`)
	emphasis   = strings.NewReplacer("**", "", "__", "", "*", "")
)

// plain is a text without the marks of Markdown, its code replaced by a word.
func plain(text string) string {
	text = emphasis.Replace(inlineCode.ReplaceAllString(text, "CODE"))
	return strings.TrimSpace(strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.So, r) }))
}

// lastSentences splits the last paragraph. A last line that is an item of a list, a
// quotation, a row of a table or a heading is no sentence; an item and a heading
// still count where they begin a step.
func lastSentences(text string) []string {
	lines := strings.Split(text, "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if strings.HasPrefix(last, ">") || strings.HasPrefix(last, "|") {
		return nil
	}
	if listItem.MatchString(last+" ") || strings.HasPrefix(last, "#") {
		if s := plain(listItem.ReplaceAllString(strings.TrimLeft(last, "# "), "")); stepBegun.MatchString(s) || brokenOff.MatchString(s) && !addressed.MatchString(s) {
			return []string{s}
		}
		return nil
	}
	from := len(lines) - 1
	for from > 0 {
		above := strings.TrimSpace(lines[from-1])
		if above == "" || strings.HasPrefix(above, ">") || strings.HasPrefix(above, "|") || strings.HasPrefix(above, "#") || strings.HasPrefix(above, "```") || listItem.MatchString(lines[from-1]) {
			break
		}
		from--
	}
	return sentences(plain(strings.Join(lines[from:], " ")))
}

// sentences splits where a full stop or the like is followed by white space and
// something that is not a small letter.
func sentences(text string) []string {
	var all []string
	begin := 0
	for i, r := range text {
		if !strings.ContainsRune(".!?…", r) {
			continue
		}
		rest := strings.TrimLeft(text[i+utf8.RuneLen(r):], `"')]”’`)
		next := strings.TrimLeft(rest, " \t")
		first, _ := utf8.DecodeRuneInString(next)
		if next == "" || next == rest || unicode.IsLower(first) {
			continue
		}
		all = append(all, strings.TrimSpace(text[begin:len(text)-len(next)]))
		begin = len(text) - len(next)
	}
	if s := strings.TrimSpace(text[begin:]); s != "" {
		all = append(all, s)
	}
	return all
}
