//go:build soak

package main_test

import "testing"

// TestSoak_P1_C032_EveryCutOfALongSession is the long one of
// TestP1_C032_EveryCutOfRecordedSessions.
func TestSoak_P1_C032_EveryCutOfALongSession(t *testing.T) {
	t.Parallel()
	trajectories(t)[longest].cutEverywhere(t)
}
