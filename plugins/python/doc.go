// Package python tests the SDK for plugins in Python, which stands beside it.
package python
