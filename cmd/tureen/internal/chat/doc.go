// Package chat is the interactive session: a person types, the answers, tool calls
// and compactions go into the scrollback of the terminal, and below them stands
// what is still alive. It knows a session only as Session; model.go is where to
// begin reading.
package chat
