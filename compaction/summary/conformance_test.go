package summary_test

import (
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/compaction/summary"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	compactiontest.Run(t, &compactiontest.Subject{
		Start:         compactiontest.InProcess(func() compaction.Strategy { return summary.New(summary.Config{}) }),
		Kinds:         []compaction.Kind{compaction.KindTrim, compaction.KindSummary},
		Deterministic: true,
	})
}
