// Package fold derives from a log what the host acts on: the surface, the open
// turn, the inbox, the request header, the meter. A State is a pure function of
// the events applied to it; the log stays the truth.
package fold
