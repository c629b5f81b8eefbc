package render

import (
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// Bar draws the meter: what is used, what is free, and the mark of the line at which
// the context is compacted. It is empty where the window is unknown.
func Bar(m session.Meter, width int, style Style) string {
	if m.Window <= 0 || width < 3 {
		return ""
	}
	used := min(width, (m.Measured*width+m.Window/2)/m.Window)
	if m.Measured > 0 && used == 0 {
		used = 1
	}
	mark := -1
	if m.ResetAt > 0 {
		mark = min(width-1, m.ResetAt*width/m.Window)
	}
	paint := style.Green
	switch {
	case m.ResetAt > 0 && m.Measured >= m.ResetAt:
		paint = style.Red
	case m.ResetAt > 0 && m.Measured*4 >= m.ResetAt*3:
		paint = style.Yellow
	}
	cell := func(i int) string {
		if i < used {
			return "█"
		}
		return "░"
	}
	var left, right strings.Builder
	for i := range width {
		switch {
		case i < mark || mark < 0:
			left.WriteString(cell(i))
		case i > mark:
			right.WriteString(cell(i))
		}
	}
	if mark < 0 {
		return paint(left.String())
	}
	return paint(left.String()) + style.Bold("┃") + paint(right.String())
}
