// Package scripted is a Chat Completions server on loopback: no key, no model,
// nothing beyond the machine. Demos, tests and simulations run against it through
// the ordinary adapter, so that everything but the thinking is real.
//
// The thinking is an Agent's: Script plays back prepared replies, Rules works the
// demonstration task as a pure function of the request that it gets.
//
// The server is strict. It refuses what the strictest vendor refuses, with error
// bodies of OpenAI's shape that name the message and the fault. It counts one
// token for every 4 bytes of the request's tools and messages as they were sent,
// and reports as cached what it has seen before, in blocks of 16 tokens.
package scripted
