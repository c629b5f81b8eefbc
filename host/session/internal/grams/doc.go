// Package grams tells where in a long sequence of texts a text may stand, without
// regard to case. Blocks of a few kilobytes have a signature each: a set of bits, two
// for every three bytes that follow each other. A text can stand only in a block that
// has all of its bits. Signatures that are complete go to a file, 128 blocks a
// segment, turned by a quarter: a search reads of each segment a few rows of 16 bytes,
// until no block is left. So the file takes about a fifth of the texts, and a search
// some microseconds a megabyte.
//
// The answer errs on one side only: a block that is not named does not hold the text.
package grams
