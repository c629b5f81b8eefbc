// Package search finds words in the events of a log: what was said to the model, by
// it, and what its calls were answered.
package search
