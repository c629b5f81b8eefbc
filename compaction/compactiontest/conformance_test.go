package compactiontest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
)

func subject(fault string) *compactiontest.Subject {
	s := &compactiontest.Subject{
		Start:         compactiontest.InProcess(func() compaction.Strategy { return newFaulty(fault) }),
		Kinds:         []compaction.Kind{compaction.KindSummary, compaction.KindReset},
		Deterministic: true,
	}
	if fault == "cancel" {
		s.Patience = 300 * time.Millisecond // what waits for ever is found out sooner
	}
	return s
}

func TestConformanceOfADecentStrategy(t *testing.T) {
	t.Parallel()
	compactiontest.Run(t, subject(""))
}

// Each check finds the fault that it is there for, and no other check finds it.
func TestConformanceFindsEachFaultByItsOwnCheck(t *testing.T) {
	t.Parallel()
	for _, c := range compactiontest.Checks() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			s := subject(c.Name)
			var found []string
			for _, c := range compactiontest.Checks() {
				if err := c.Run(t.Context(), s); err != nil {
					found = append(found, c.Name)
					t.Logf("%s: %.300v", c.Name, err)
				}
			}
			if !slices.Equal(found, []string{c.Name}) {
				t.Errorf("the fault %q is found by %v", c.Name, found)
			}
		})
	}
}
