// Package host wires a session: profile, store, model, plugins, strategy, loop.
// It is the only place where these meet.
//
// The map of the house, in reading order:
//
//	session      Event, Log: what happened, and where it is kept
//	session/fold Surface, State: what the model sees next, folded from a log
//	llm          Message, Model: what is said to and by a model
//	agent        turn.go, step.go: the loop
//	tool, hook, prompt  what plugins offer the loop
//	spill        tool results that are too long to be shown: previews, and the rest
//	pluginhost   keeps plugin processes alive
//	profile      what a profile says
package host
