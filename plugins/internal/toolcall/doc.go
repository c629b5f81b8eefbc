// Package toolcall is what the shipped tool plugins do alike with a call: find
// the workspace of its session, decode its arguments, and turn what came of it
// into a result that the model can use.
package toolcall
