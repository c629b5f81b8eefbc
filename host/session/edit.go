package session

import "github.com/tureen-host/tureen/host/llm"

// Edit changes a surface by reference. Exactly one field is set.
type Edit struct {
	Trim    *Trim    `json:"trim,omitempty"`
	Drop    *Span    `json:"drop,omitempty"`
	Replace *Replace `json:"replace,omitempty"`
}

// Span is a run of nodes on the surface, both ends included, by seq.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Trim cuts the middle out of a tool result's text; Head and Tail are code points.
type Trim struct {
	Node int64 `json:"node"`
	Head int   `json:"head"`
	Tail int   `json:"tail"`
}

// Replace puts messages in place of a span. They are user messages.
type Replace struct {
	Span     Span           `json:"span"`
	Messages []*llm.Message `json:"messages"`
}
