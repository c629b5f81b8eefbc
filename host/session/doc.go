// Package session defines the append-only log of a session: the event and its
// payloads (a compatibility promise), the Log that keeps them, and what the host
// lends a plugin of a session. The model's view of a log is fold.Surface.
package session
