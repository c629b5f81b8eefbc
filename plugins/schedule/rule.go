package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// Rule says when a reminder is due. Exactly one field is set.
type Rule struct {
	At     *time.Time `json:"at,omitempty"` // once
	Every  int        `json:"every_seconds,omitempty"`
	Daily  string     `json:"daily,omitempty"` // HH:MM
	Weekly *Weekly    `json:"weekly,omitempty"`
	Cron   string     `json:"cron,omitempty"`
}

// Weekly is a day of the week, in small letters, and HH:MM.
type Weekly struct {
	Day  string `json:"day"`
	Time string `json:"time"`
}

// timing is how a model says it.
type timing struct {
	AfterSeconds toolcall.Int `json:"after_seconds"`
	At           string       `json:"at"`
	EverySeconds toolcall.Int `json:"every_seconds"`
	Daily        string       `json:"daily"`
	Weekly       *Weekly      `json:"weekly"`
	Cron         string       `json:"cron"`
}

const timings = "after_seconds, at, every_seconds, daily, weekly or cron"

// given counts the ways in which it says when.
func (t timing) given() int {
	n := 0
	for _, set := range []bool{t.AfterSeconds != 0, t.At != "", t.EverySeconds != 0, t.Daily != "", t.Weekly != nil, t.Cron != ""} {
		if set {
			n++
		}
	}
	return n
}

// rule checks it against the time that it is now, in the zone that counts.
func (t timing) rule(now time.Time) (Rule, error) {
	if n := t.given(); n != 1 {
		return Rule{}, toolcall.Errorf("BAD_TIME", "give exactly one of %s; %d were given", timings, n)
	}
	r := Rule{Every: int(t.EverySeconds), Daily: t.Daily, Weekly: t.Weekly, Cron: t.Cron}
	switch {
	case t.AfterSeconds != 0:
		at := now.Add(time.Duration(t.AfterSeconds) * time.Second)
		r.At = &at
	case t.At != "":
		at, err := time.Parse(time.RFC3339, t.At)
		if err != nil {
			return Rule{}, toolcall.Errorf("BAD_TIME", "at is %q; write a time with its offset, such as %s", t.At, now.Format(time.RFC3339))
		}
		if at = at.Truncate(time.Second); !at.After(now) {
			return Rule{}, toolcall.Errorf("BAD_TIME", "at is %s, and it is %s already; name a time to come", t.At, now.Format(time.RFC3339))
		}
		r.At = &at
	}
	if err := r.check(now); err != nil {
		return Rule{}, toolcall.Errorf("BAD_TIME", "%v", err)
	}
	return r, nil
}

// check tells what is wrong with a rule, nil for nothing.
func (r Rule) check(now time.Time) error {
	switch {
	case r.At != nil:
		return nil
	case r.Every != 0:
		if r.Every < 60 {
			return fmt.Errorf("every_seconds is %d, and 60 is the least", r.Every)
		}
		return nil
	case r.Daily != "":
		_, err := clock(r.Daily)
		return err
	case r.Weekly != nil:
		if _, ok := weekdays[r.Weekly.Day]; !ok {
			return fmt.Errorf("the day is %q; write monday to sunday", r.Weekly.Day)
		}
		_, err := clock(r.Weekly.Time)
		return err
	case r.Cron != "":
		s, err := parseCron(r.Cron)
		if err != nil {
			return err
		}
		if s.Next(now).IsZero() {
			return fmt.Errorf("cron is %q, which is due on no day of the next five years", r.Cron)
		}
		return nil
	}
	return fmt.Errorf("it is due at no time; give one of %s", timings)
}

var weekdays = map[string]time.Weekday{"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6}

// clock reads HH:MM.
func clock(text string) (time.Time, error) {
	t, err := time.Parse("15:04", text)
	if err != nil {
		return t, fmt.Errorf("the time of day is %q; write HH:MM, such as 09:30", text)
	}
	return t, nil
}

var cronParser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

func parseCron(text string) (cron.Schedule, error) {
	fields := strings.Fields(text)
	if len(fields) != 5 || strings.Contains(text, "=") { // a zone of its own is not asked for
		return nil, fmt.Errorf("cron is %q; write five fields: minute, hour, day of month, month, day of week", text)
	}
	s, err := cronParser.Parse(strings.Join(fields, " "))
	if err != nil {
		return nil, fmt.Errorf("cron is %q: %w", text, err)
	}
	return s, nil
}

// text says when, for people and models.
func (r Rule) text(zone *time.Location) string {
	switch {
	case r.At != nil:
		return "once, at " + r.At.In(zone).Format(time.RFC3339)
	case r.Every != 0:
		return "every " + (time.Duration(r.Every) * time.Second).String()
	case r.Daily != "":
		return "daily at " + r.Daily
	case r.Weekly != nil:
		return "each " + r.Weekly.Day + " at " + r.Weekly.Time
	}
	return "cron " + r.Cron
}
