package session

// QuestionKind tells an approval from a question.
type QuestionKind string

const (
	// QuestionApproval asks whether one call may run (T16).
	QuestionApproval QuestionKind = "approval"
	// QuestionOpen asks for whatever a plugin wants to know (T18).
	QuestionOpen QuestionKind = "question"
)

// Question is put to the person. ID is given by the host and names the question
// within its session.
type Question struct {
	ID       string       `json:"id"`
	Kind     QuestionKind `json:"kind"`
	Plugin   string       `json:"plugin,omitempty"`  // that asks
	CallID   string       `json:"call_id,omitempty"` // that it is about
	Text     string       `json:"text"`              // one or a few lines
	Detail   string       `json:"detail,omitempty"`  // what it is about in full: the command, a plan
	Options  []Option     `json:"options,omitempty"` // none: free text
	Multiple bool         `json:"multiple,omitempty"`
}

// Option is one of the answers on offer. The first is the recommended one; a
// question with options takes free text as well, unless it is an approval.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Outcome is what became of a question.
type Outcome string

const (
	OutcomeAnswered    Outcome = "answered"
	OutcomeDeclined    Outcome = "declined"    // the person would not answer
	OutcomePending     Outcome = "pending"     // no answer in time; one may still come, as a message
	OutcomeUnavailable Outcome = "unavailable" // there is nobody to ask
)

// Answer is what a question came to.
type Answer struct {
	ID      string   `json:"id"`
	Outcome Outcome  `json:"outcome"`
	Choices []string `json:"choices,omitempty"` // labels of options
	Text    string   `json:"text,omitempty"`
	// Late tells that it came after the asker had gone on; it is in the inbox too.
	Late bool `json:"late,omitempty"`
}

// Chose tells whether an option was chosen.
func (a Answer) Chose(label string) bool {
	for _, c := range a.Choices {
		if c == label {
			return a.Outcome == OutcomeAnswered
		}
	}
	return false
}

// CommandRun is a slash command that a person gave and what it answered.
type CommandRun struct {
	Plugin    string `json:"plugin"`
	Name      string `json:"name"` // without the slash
	Arguments string `json:"arguments,omitempty"`
	Text      string `json:"text,omitempty"`
	Error     string `json:"error,omitempty"`
}

// DirectoryChanged moves the directory that tools start from.
type DirectoryChanged struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why,omitempty"` // where it was not the agent's wish
}
