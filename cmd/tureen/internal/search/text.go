package search

import (
	"slices"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Part is who said a text, or what it is.
type Part string

// The parts of a conversation. Host, plugins and standing messages speak in notices.
const (
	Prompt     Part = "prompt"
	Notice     Part = "notice"
	Checkpoint Part = "checkpoint"
	Answer     Part = "answer"
	Reasoning  Part = "reasoning"
	Call       Part = "call"
	Result     Part = "result"
	Question   Part = "question"
	Command    Part = "command"
)

// Parts are all of them.
var Parts = []Part{Prompt, Notice, Checkpoint, Answer, Reasoning, Call, Result, Question, Command}

// places are the kinds of events in which a part stands.
var places = map[Part][]session.Kind{
	Prompt: {session.KindMessageUser}, Notice: {session.KindMessageUser}, Checkpoint: {session.KindMessageUser},
	Answer: {session.KindMessageAssistant}, Reasoning: {session.KindMessageAssistant}, Call: {session.KindMessageAssistant},
	Result:   {session.KindToolResult, session.KindToolSpilled},
	Question: {session.KindQuestionAsked, session.KindQuestionAnswered},
	Command:  {session.KindCommandRun},
}

// Kinds are the events in which some parts stand.
func Kinds(parts []Part) []session.Kind {
	var kinds []session.Kind
	for _, p := range parts {
		for _, k := range places[p] {
			if !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// text is one text of an event, in one or more forms or pieces.
type text struct {
	part  Part
	tool  string
	forms []string
}

func said(part Part, forms ...string) text { return text{part: part, forms: forms} }

// texts are what an event says. A result that was shortened says nothing: its whole
// text is an event of its own. What does not decode says nothing.
func texts(e session.Event) []text {
	switch e.Kind {
	case session.KindMessageUser:
		return read(e, userTexts)
	case session.KindMessageAssistant:
		return read(e, answerTexts)
	case session.KindToolResult:
		return read(e, resultTexts)
	case session.KindToolSpilled:
		return read(e, func(p session.Spilled) []text { return []text{{Result, p.Name, []string{p.Text}}} })
	case session.KindQuestionAsked:
		return read(e, func(p session.Question) []text { return []text{said(Question, p.Text, p.Detail)} })
	case session.KindQuestionAnswered:
		return read(e, func(p session.Answer) []text {
			return []text{said(Question, append(slices.Clone(p.Choices), p.Text)...)}
		})
	case session.KindCommandRun:
		return read(e, func(p session.CommandRun) []text {
			return []text{said(Command, p.Arguments, p.Text, p.Error, p.Name)}
		})
	}
	return nil
}

func read[T any](e session.Event, say func(T) []text) []text {
	p, err := session.Decode[T](e)
	if err != nil {
		return nil
	}
	return say(p)
}

func userTexts(p session.Message) []text {
	if p.Message == nil {
		return nil
	}
	part := Notice
	switch p.Source {
	case session.SourceOwner, session.SourceSteer:
		part = Prompt
	case session.SourceCheckpoint:
		part = Checkpoint
	}
	return []text{said(part, p.Message.Text())}
}

func answerTexts(p session.Assistant) []text {
	if p.Message == nil {
		return nil
	}
	var all []text
	for _, b := range p.Message.Blocks {
		switch {
		case b.Kind == llm.BlockText:
			all = append(all, said(Answer, b.Text))
		case b.Kind == llm.BlockReasoning:
			all = append(all, said(Reasoning, b.Text))
		case b.Call != nil:
			all = append(all, text{Call, b.Call.Name, []string{session.Unescaped(b.Call.Arguments), b.Call.Arguments, b.Call.Name}})
		}
	}
	return all
}

func resultTexts(p session.ToolResult) []text {
	if p.Message == nil || p.Spilled != 0 || p.Name == "" { // without a name it is the trim of an older one
		return nil
	}
	return []text{{Result, p.Name, []string{p.Message.Text()}}}
}
