// Package openai speaks the Chat Completions protocol: it is the llm.Model for
// every endpoint that understands it.
//
// A request goes out as bytes of our own (encoder, body) and comes back as
// loosely read chunks (chunk) that an assembler turns into one llm.Answer; the
// openai-go client carries both. What differs between vendors is one data table
// (quirk.go). Every failure is an *llm.Error made in classify.go or transport.go.
package openai
