package scripted

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

// HabitsModel is the model name under which Habits answers.
const HabitsModel = "scripted-habits"

// Habits is an agent with the bad habits of real ones, one for each task that
// begins with "Habit: NAME": it announces and stops, calls in a loop, asks, runs
// what takes too long, forgets its list, spawns, asks to be reminded. It shows what
// the guards of a profile make of that. Like Rules it is a pure function of the
// request.
type Habits struct{}

var (
	habitTask = regexp.MustCompile(`(?m)^Habit: ([a-z]+)`)
	childTask = regexp.MustCompile(`(?m)^Say the word (\w+)`)
	jobNamed  = regexp.MustCompile(`\bjob-\d+\b`)
)

// seen is what the request shows of the task.
type seen struct {
	name    string
	results []string // of tools, since the task
	said    []string // by users behind the task
	answers int      // by the agent since then
}

// habits answers for each name, given what was seen.
var habits = map[string]func(seen) Reply{
	"announce": func(seen) Reply { return Reply{Text: "Now let me read the log."} },
	"loop":     loop,
	"ask":      ask,
	"approve":  approve,
	"slow":     slow,
	"forget":   forget,
	"spawn":    spawn,
	"remind":   remind,
}

// Reply answers by the habit that the request's task names.
func (Habits) Reply(req llm.Request) Reply {
	s := seenIn(req.Messages)
	if habit := habits[s.name]; habit != nil {
		return habit(s)
	}
	for _, m := range req.Messages {
		if word := childTask.FindStringSubmatch(m.Text()); m.Role == llm.RoleUser && word != nil {
			return Reply{Text: "The word is " + word[1] + "."}
		}
	}
	return Reply{Text: "Begin the task with \"Habit: \" and one of announce, loop, ask, approve, slow, forget, spawn, remind."}
}

func seenIn(messages []*llm.Message) seen {
	var s seen
	for _, m := range messages {
		text := m.Text()
		switch {
		case m.Role == llm.RoleUser && habitTask.MatchString(text):
			s = seen{name: habitTask.FindStringSubmatch(text)[1]}
		case m.Role == llm.RoleUser:
			s.said = append(s.said, text)
		case m.Role == llm.RoleTool:
			s.results = append(s.results, text)
		case m.Role == llm.RoleAssistant:
			s.answers++
		}
	}
	return s
}

// loop makes the same call for ever, with its keys in another order each time.
func loop(s seen) Reply {
	arguments := `{"file_path":"a.txt","limit":10}`
	if s.answers%2 == 1 {
		arguments = `{"limit":10,"file_path":"a.txt"}`
	}
	return Reply{Calls: []Call{{Name: "read", Arguments: Arguments(arguments)}}}
}

func ask(s seen) Reply {
	if len(s.results) > 0 {
		return Reply{Text: "I asked which colour, and got: " + s.results[len(s.results)-1]}
	}
	return Reply{Calls: []Call{invoke("ask_user", map[string]any{"questions": []any{map[string]any{
		"question": "Which colour?", "options": []any{map[string]any{"label": "red"}, map[string]any{"label": "blue"}}}}})}}
}

func approve(s seen) Reply {
	if len(s.results) > 0 {
		return Reply{Text: "I tried to reach the network, and got: " + s.results[len(s.results)-1]}
	}
	return Reply{Calls: []Call{invoke("shell", map[string]any{"description": "fetch a page", "command": "curl -s https://example.com/"})}}
}

// slow runs what takes longer than it gives it, ends its turn, and looks at the job
// when it is told of its end.
func slow(s seen) Reply {
	switch len(s.results) {
	case 0:
		return Reply{Calls: []Call{invoke("shell", map[string]any{"description": "take a while", "command": "sleep 3; echo all is built", "timeoutMs": 200})}}
	case 1:
		id := jobNamed.FindString(s.results[0])
		for _, text := range s.said {
			if id != "" && strings.Contains(text, id) {
				return Reply{Calls: []Call{invoke("job_output", map[string]any{"id": id})}}
			}
		}
		return Reply{Text: "The build goes on in the background. I was told that I will hear of its end."}
	}
	return Reply{Text: "The job said: " + s.results[1]}
}

// forget leaves its list open until it is told.
func forget(s seen) Reply {
	list := func(second string) Reply {
		return Reply{Calls: []Call{invoke("todo_write", map[string]any{"todos": []any{
			map[string]any{"content": "measure", "status": "completed"}, map[string]any{"content": "write the report", "status": second}}})}}
	}
	nudges := 0
	for _, text := range s.said {
		if strings.Contains(text, "write the report") {
			nudges++
		}
	}
	switch {
	case len(s.results) == 0:
		return list("pending")
	case len(s.results) == 1 && nudges == 0:
		return Reply{Text: "The measurement is done."}
	case len(s.results) == 1:
		return list("completed")
	}
	return Reply{Text: "Measured and reported."}
}

func spawn(s seen) Reply {
	if len(s.results) == 0 {
		var calls []Call
		for _, word := range []string{"one", "two"} {
			calls = append(calls, invoke("subagent", map[string]any{"task": "Say the word " + word + " and nothing else.", "label": "word " + word}))
		}
		return Reply{Calls: calls}
	}
	var words []string
	for _, text := range s.said {
		for _, word := range []string{"one", "two"} {
			if strings.Contains(text, "The word is "+word) {
				words = append(words, word)
			}
		}
	}
	if len(words) < 2 {
		return Reply{Text: fmt.Sprintf("%d of 2 subagents have answered.", len(words))}
	}
	return Reply{Text: "Both subagents have answered: " + strings.Join(words, ", ") + "."}
}

func remind(s seen) Reply {
	if len(s.results) == 0 {
		return Reply{Calls: []Call{invoke("schedule_create", map[string]any{"title": "tea", "prompt": "The tea is ready.", "after_seconds": 1})}}
	}
	for _, text := range s.said {
		if strings.Contains(text, "The tea is ready.") {
			return Reply{Text: "I was reminded of the tea."}
		}
	}
	return Reply{Text: "I have asked to be reminded."}
}

func invoke(name string, arguments map[string]any) Call {
	text, _ := json.Marshal(arguments) // plain values: cannot fail
	return Call{Name: name, Arguments: Arguments(text)}
}
