package instructions

import (
	"fmt"
	"time"
)

// clock is what a session was told of the time (SP5).
type clock struct {
	text string    // "" = to be told anew
	told time.Time // when the text was made, zero = never
}

// tell returns the text of the time. It stays the same until every has gone by, or
// the clock was set back.
func (c *clock) tell(now time.Time, zone *time.Location, every time.Duration) string {
	now = now.Round(0) // by the wall, also where the machine slept
	since := now.Sub(c.told)
	if c.text != "" && since >= 0 && since < every {
		return c.text
	}
	local := now.In(zone)
	name := zone.String()
	if zone == time.Local {
		name, _ = local.Zone()
	}
	c.text = fmt.Sprintf("It is %s, a %s (time zone %s). Dates and times without a zone are meant in this one.", local.Format("2006-01-02T15:04:05-07:00"), local.Weekday(), name)
	if !c.told.IsZero() && since >= 0 {
		c.text += fmt.Sprintf(" %s have passed since you were last told.", since.Round(time.Second))
	}
	c.told = now
	return c.text
}
