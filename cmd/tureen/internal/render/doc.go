// Package render turns what a run does into text for a person (Progress, on
// stderr) and into events for a program (Stream, on stdout).
package render
