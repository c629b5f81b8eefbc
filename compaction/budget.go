package compaction

// Budget is the host's line in tokens (C3, N13). Window 0 means unknown: then
// ResetAt, Reserve, Warning and Reminder are 0 and nothing is automatic.
type Budget struct {
	Window          int    `json:"context_window"`
	MaxOutputTokens int    `json:"max_output_tokens"`
	ResetAt         int    `json:"reset_at"` // measured tokens from which a compaction is due
	Reserve         int    `json:"reserve"`  // Window - ResetAt
	Warning         int    `json:"warning"`  // tokens remaining at which the close-out mark is due
	Reminder        int    `json:"reminder"` // tokens remaining at which the reminder is due
	Source          string `json:"source"`   // profile | probed | unknown
}

// BudgetConfig holds the written budget keys of a profile; nil means auto.
type BudgetConfig struct {
	ThresholdRatio *float64 // of the window
	Headroom       *int
	WarningMargin  *int
	ReminderMargin *int
	TriggerTokens  *int // absolute cap of ResetAt
}
