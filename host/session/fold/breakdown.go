package fold

// Breakdown says what the context is filled with, in estimated tokens (C19).
type Breakdown struct {
	System     int `json:"system"`     // node 0 and later system messages
	Tools      int `json:"tools"`      // declarations
	Owner      int `json:"owner"`      // the person's words
	Notices    int `json:"notices"`    // of host and plugins, runtime contexts included
	Checkpoint int `json:"checkpoint"` // what compactions left
	Assistant  int `json:"assistant"`  // answers, reasoning and calls included
	Results    int `json:"results"`    // of tools
}

// Breakdown adds up the surface and the tool declarations.
func (s *State) Breakdown() Breakdown { return Breakdown{} }

// TurnOutline is one turn as far as it stands on the surface (C19).
type TurnOutline struct {
	Turn   int      `json:"turn"` // 0 = what no turn brought
	From   int64    `json:"from"` // first and last node
	To     int64    `json:"to"`
	Prompt string   `json:"prompt,omitempty"` // first line of the person's words
	Steps  int      `json:"steps"`            // answers on the surface
	Calls  []string `json:"calls,omitempty"`  // names of tools, each once, in order of first use
	Tokens int      `json:"tokens"`
}

// Turns lists the turns on the surface, oldest first.
func (s *State) Turns() []TurnOutline { return nil }
