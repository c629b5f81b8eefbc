package prompt

// Orders of the host's own sections and contexts; plugins place theirs between.
const (
	OrderIdentity      = -1000
	OrderPersonaPrefix = 0
	OrderTools         = 1000 // 1000..1999: guidance of tools
	OrderPersonaSuffix = 10200

	OrderWorkspace = 100
)

// Defaults are the host's own sections (SP2, SP3): who the agent is, the one
// sentence that asks it to act, and the profile's persona.
func Defaults(personaPrefix, personaSuffix string) []Section {
	return []Section{
		{ID: "host:identity", Order: OrderIdentity, Text: identity},
		{ID: "host:act", Order: OrderIdentity + 1, Text: act},
		{ID: "persona:prefix", Order: OrderPersonaPrefix, Text: personaPrefix},
		{ID: "persona:suffix", Order: OrderPersonaSuffix, Text: personaSuffix},
	}
}

const (
	identity = "You are an agent that works for its user on this computer, driven by the model {{model}}."
	act      = "When you know what to do next, do it with a tool call in the same answer instead of announcing it. End your turn only when the task is done or you need the user."
)
