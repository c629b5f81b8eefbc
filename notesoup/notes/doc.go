// Package notes keeps the agent's notes: homes of small text files with
// addresses, revisions and receipts. Its file backend is the only code that
// touches note files.
package notes
