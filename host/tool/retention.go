package tool

import "fmt"

// How results word what they do not show (C17). Every tool that pages or shortens
// says it like this, so that the model has to learn it once: what is left out, and
// what to do for it. "Capped" means that a bound was reached before what was asked for.

// Omitted says at the end of a result how much of it is left out and how to get it.
func Omitted(count, total int, unit, recovery string) string {
	return fmt.Sprintf("(Omitted %d of %d %s. %s)", count, total, unit, recovery)
}

// OmittedLines says in the place of lines that they are left out.
func OmittedLines(first, last, total int) string {
	if first == last {
		return fmt.Sprintf("a part of line %d of %d omitted", first, total)
	}
	return fmt.Sprintf("lines %d-%d of %d omitted", first, last, total)
}

// Showing is the last line of a page behind which there is more; next are the
// arguments of the call that goes on.
func Showing(first, last, total int, next string) string {
	return fmt.Sprintf("(Showing lines %d-%d of %d. Use %s to continue.)", first, last, total, next)
}

// Capped is Showing for a page that ended before the number of lines asked for.
func Capped(first, last, total int, next string) string {
	return fmt.Sprintf("(Output capped. Showing lines %d-%d of %d. Use %s to continue.)", first, last, total, next)
}
