package schedule

import "time"

// next is the first occurrence after t, zero for none. from is when the rule was set.
func (r Rule) next(from, t time.Time) time.Time {
	switch {
	case r.At != nil:
		if r.At.After(t) {
			return *r.At
		}
	case r.Every > 0:
		every := time.Duration(r.Every) * time.Second
		if t.Before(from) {
			return from.Add(every)
		}
		return from.Add((t.Sub(from)/every + 1) * every)
	case r.Daily != "":
		return nearDay(r.Daily, t, 0, 2, func(at time.Time) bool { return at.After(t) })
	case r.Weekly != nil:
		return nearDay(r.Weekly.Time, t, 0, 8, func(at time.Time) bool {
			return at.After(t) && at.Weekday() == weekdays[r.Weekly.Day]
		})
	case r.Cron != "":
		if s, err := parseCron(r.Cron); err == nil {
			return s.Next(t)
		}
	}
	return time.Time{}
}

// last is the latest occurrence up to and with t, zero for none after from.
func (r Rule) last(from, t time.Time) time.Time {
	found := time.Time{}
	switch {
	case r.At != nil:
		found = *r.At
	case r.Every > 0:
		every := time.Duration(r.Every) * time.Second
		if n := t.Sub(from) / every; n > 0 {
			found = from.Add(n * every)
		}
	case r.Daily != "":
		found = nearDay(r.Daily, t, 0, -2, func(at time.Time) bool { return !at.After(t) })
	case r.Weekly != nil:
		found = nearDay(r.Weekly.Time, t, 0, -8, func(at time.Time) bool {
			return !at.After(t) && at.Weekday() == weekdays[r.Weekly.Day]
		})
	case r.Cron != "":
		found = lastCron(r.Cron, from, t)
	}
	if found.After(t) || !found.After(from) {
		return time.Time{}
	}
	return found
}

// nearDay finds the first day from t on whose time of day fits, going to the day
// that lies to days away. There is one on each day, also where clocks are changed.
func nearDay(text string, t time.Time, from, to int, fits func(time.Time) bool) time.Time {
	of, err := clock(text)
	if err != nil {
		return time.Time{}
	}
	step := 1
	if to < 0 {
		step = -1
	}
	for day := from; day != to+step; day += step {
		if at := time.Date(t.Year(), t.Month(), t.Day()+day, of.Hour(), of.Minute(), 0, 0, t.Location()); fits(at) {
			return at
		}
	}
	return time.Time{}
}

// lookBack is how far one looks for the last occurrence of a cron rule, step by
// step, so that one that is often due is not counted through.
var lookBack = []time.Duration{time.Hour, 24 * time.Hour, 32 * 24 * time.Hour, 366 * 24 * time.Hour, 5 * 366 * 24 * time.Hour}

func lastCron(text string, from, t time.Time) time.Time {
	s, err := parseCron(text)
	if err != nil {
		return time.Time{}
	}
	for _, back := range lookBack {
		start := t.Add(-back)
		if start.Before(from) {
			start = from
		}
		found := time.Time{}
		for at := s.Next(start); !at.IsZero() && !at.After(t); at = s.Next(at) {
			found = at
		}
		if !found.IsZero() || start.Equal(from) {
			return found
		}
	}
	return time.Time{}
}
