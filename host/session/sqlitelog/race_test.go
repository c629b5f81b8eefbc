//go:build race

package sqlitelog_test

import "flag"

// The race detector makes each run ten times as long, and finds what it finds in few.
func init() {
	if err := flag.Set("rapid.checks", "15"); err != nil {
		panic(err)
	}
}
