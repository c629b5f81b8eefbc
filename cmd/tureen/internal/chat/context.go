package chat

import (
	"fmt"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

// howFull is how /context begins: the meter as the chat has it.
func howFull(meter session.Meter, width int) string {
	text := render.Meter(meter) + fmt.Sprintf(", %s; window %d, %s", source(meter.Source), meter.Ordinal, render.Count(meter.Compactions, "compaction"))
	if drawn := render.Bar(meter, min(40, width), render.Style{}); drawn != "" {
		text = drawn + "\n" + text
	}
	if meter.ResetAt > 0 {
		text += fmt.Sprintf("\n%s left before the line", render.Amount(max(0, meter.ResetAt-meter.Measured)))
	}
	return text
}

func source(name string) string {
	if name == "usage" {
		return "counted by the endpoint"
	}
	return "estimated"
}
