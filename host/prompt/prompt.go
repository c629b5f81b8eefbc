// Package prompt builds the system prompt and the runtime context from what the
// host and the plugins offer.
package prompt

import "context"

// Section is a part of the system prompt (SP1).
type Section struct {
	ID    string `json:"id"`
	Order int    `json:"order"` // ascending; ties by ID
	Text  string `json:"text"`
	// Raw text is not interpolated.
	Raw bool `json:"raw,omitempty"`
	// Complete replaces the whole prompt by this section.
	Complete bool `json:"complete,omitempty"`
	// Tool shows the section only while that tool is visible (SP9).
	Tool string `json:"tool,omitempty"`
}

// Context is a part of the runtime context, a user message that is sent only
// when its text changed (L13). Own makes it a message of its own: it is sent where
// no message of this provider and ID with this text stands on the surface, so that
// it comes again after a compaction that took it. An empty Own text sends nothing.
type Context struct {
	ID    string `json:"id"`
	Order int    `json:"order"`
	Text  string `json:"text"`
	Tool  string `json:"tool,omitempty"`
	Own   bool   `json:"own,omitempty"`
}

// Provider offers sections and contexts of one plugin. Sections are asked for
// once a window, contexts before every step.
type Provider interface {
	Name() string
	Sections(ctx context.Context, session string) ([]Section, error)
	Contexts(ctx context.Context, session string) ([]Context, error)
}
