package schedule

import (
	"strings"
	"testing"
	"time"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// TestS8_OccurrencesOfEachRule: the next one and the last one, also where clocks are
// changed and after a long time.
func TestS8_OccurrencesOfEachRule(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	at := func(text string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04:05", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	once := at("2026-03-01 09:00:00")
	for name, c := range map[string]struct {
		rule       Rule
		since, now string
		last, next string // "" = none
	}{
		"once, to come":             {Rule{At: &once}, "2026-02-01 00:00:00", "2026-02-02 00:00:00", "", "2026-03-01 09:00:00"},
		"once, missed":              {Rule{At: &once}, "2026-02-01 00:00:00", "2026-04-02 00:00:00", "2026-03-01 09:00:00", ""},
		"every, before the first":   {Rule{Every: 90}, "2026-01-01 00:00:00", "2026-01-01 00:01:00", "", "2026-01-01 00:01:30"},
		"every, on one":             {Rule{Every: 90}, "2026-01-01 00:00:00", "2026-01-01 00:03:00", "2026-01-01 00:03:00", "2026-01-01 00:04:30"},
		"every, after days":         {Rule{Every: 3600}, "2026-01-01 00:30:00", "2026-01-05 12:00:00", "2026-01-05 11:30:00", "2026-01-05 12:30:00"},
		"daily, later today":        {Rule{Daily: "09:30"}, "2026-01-01 00:00:00", "2026-01-02 08:00:00", "2026-01-01 09:30:00", "2026-01-02 09:30:00"},
		"daily, not since":          {Rule{Daily: "09:30"}, "2026-01-02 07:00:00", "2026-01-02 08:00:00", "", "2026-01-02 09:30:00"},
		"daily, at midnight":        {Rule{Daily: "00:00"}, "2026-01-01 00:00:00", "2026-01-31 23:59:59", "2026-01-31 00:00:00", "2026-02-01 00:00:00"},
		"daily, an hour is missing": {Rule{Daily: "02:30"}, "2026-03-01 00:00:00", "2026-03-29 12:00:00", "2026-03-29 03:30:00", "2026-03-30 02:30:00"},
		"daily, an hour is twice":   {Rule{Daily: "02:30"}, "2026-10-01 00:00:00", "2026-10-25 12:00:00", "2026-10-25 02:30:00", "2026-10-26 02:30:00"},
		"weekly, today":             {Rule{Weekly: &Weekly{"monday", "10:00"}}, "2026-01-01 00:00:00", "2026-01-12 10:00:00", "2026-01-12 10:00:00", "2026-01-19 10:00:00"},
		"weekly, earlier today":     {Rule{Weekly: &Weekly{"monday", "10:00"}}, "2026-01-01 00:00:00", "2026-01-12 09:59:59", "2026-01-05 10:00:00", "2026-01-12 10:00:00"},
		"cron, often, after a year": {Rule{Cron: "*/5 * * * *"}, "2025-01-01 00:00:00", "2026-01-01 00:07:00", "2026-01-01 00:05:00", "2026-01-01 00:10:00"},
		"cron, on work days":        {Rule{Cron: "0 9 * * 1-5"}, "2026-01-01 00:00:00", "2026-01-11 12:00:00", "2026-01-09 09:00:00", "2026-01-12 09:00:00"},
		"cron, leap days":           {Rule{Cron: "0 0 29 2 *"}, "2024-01-01 00:00:00", "2026-01-01 00:00:00", "2024-02-29 00:00:00", "2028-02-29 00:00:00"},
		"cron, not since":           {Rule{Cron: "0 0 29 2 *"}, "2025-01-01 00:00:00", "2026-01-01 00:00:00", "", "2028-02-29 00:00:00"},
	} {
		text := func(v time.Time) string {
			if v.IsZero() {
				return ""
			}
			return v.In(zone).Format("2006-01-02 15:04:05")
		}
		if got := text(c.rule.last(at(c.since), at(c.now))); got != c.last {
			t.Errorf("%s: last is %q, want %q", name, got, c.last)
		}
		if got := text(c.rule.next(at(c.since), at(c.now))); got != c.next {
			t.Errorf("%s: next is %q, want %q", name, got, c.next)
		}
		if got := text(nextOf(c.rule, at(c.since), at(c.now))); got != c.next {
			t.Errorf("%s: searched, next is %q, want %q", name, got, c.next)
		}
	}
}

// nextOf finds the next occurrence by asking for the last one, minute by minute: what
// the two say must agree.
func nextOf(r Rule, since, now time.Time) time.Time {
	const horizon = 40 * 24 * time.Hour
	before := r.last(since, now)
	if r.Cron == "0 0 29 2 *" { // beyond the horizon
		return r.next(since, now)
	}
	for at := now.Add(time.Second); at.Before(now.Add(horizon)); at = at.Add(time.Minute) {
		if v := r.last(since, at); !v.Equal(before) {
			return v
		}
	}
	return time.Time{}
}

// TestS8_BadTimesAreRefused: each with what is wrong and what to write.
func TestS8_BadTimesAreRefused(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, berlin(t))
	for want, in := range map[string]timing{
		"exactly one of":         {},
		"2 were given":           {AfterSeconds: 5, Daily: "10:00"},
		"write a time with its":  {At: "tomorrow"},
		"12:00:00+01:00 already": {At: "2026-01-01T12:00:00+01:00"},
		"60 is the least":        {EverySeconds: 59},
		"write HH:MM":            {Daily: "24:00"},
		"write monday to sunday": {Weekly: &Weekly{"caturday", "10:00"}},
		"\"10\"; write HH:MM":    {Weekly: &Weekly{"sunday", "10"}},
		"write five fields":      {Cron: "TZ=UTC"},
		"day of week":            {Cron: "TZ=UTC * * * *"},
		"hour, day of month":     {Cron: "@daily"},
		"end of range":           {Cron: "0 25 * * *"},
		"no day of the next":     {Cron: "0 0 31 2 *"},
	} {
		if r, err := in.rule(now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %+v, %v; want %q", in, r, err, want)
		}
	}
	if r, err := (timing{AfterSeconds: 90}).rule(now); err != nil || !r.At.Equal(now.Add(90*time.Second)) {
		t.Errorf("after 90 s: %+v, %v", r, err)
	}
}

func TestS8_ConfigNamesTheKeyThatIsWrong(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"time_zone": "Mars/Base"}`: "time_zone", `{"wait": "soon"}`: "wait", `{"wait": "-1s"}`: "wait", `{`: "config",
	} {
		if _, err := ParseConfig([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want one of %s", raw, err, want)
		}
	}
	c, err := ParseConfig([]byte(`{"time_zone": "UTC", "wait": "0s", "max_waits": 0}`))
	if err != nil || c.Zone != time.UTC || c.Wait != 0 || c.MaxWaits != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}
