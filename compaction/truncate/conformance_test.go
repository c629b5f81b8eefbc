package truncate_test

import (
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/compaction/truncate"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	compactiontest.Run(t, &compactiontest.Subject{
		Start:         compactiontest.InProcess(func() compaction.Strategy { return truncate.New(truncate.Config{}) }),
		Kinds:         []compaction.Kind{compaction.KindSummary},
		Deterministic: true,
	})
}
