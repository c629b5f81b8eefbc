package prune_test

import (
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/compaction/prune"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	compactiontest.Run(t, &compactiontest.Subject{
		Start:         compactiontest.InProcess(func() compaction.Strategy { return prune.New(prune.Config{}) }),
		Kinds:         []compaction.Kind{compaction.KindTrim},
		Deterministic: true,
	})
}
