// Package llm holds what is said to and by a model, and the Model that says it.
// It is a leaf: it imports nothing of this project.
package llm
