package host

import (
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/memlog"
)

func crashAt(text string) func(string) string {
	return func(name string) string {
		if name == crashVariable {
			return text
		}
		return ""
	}
}

func TestCrashPointsAreReachedOnce(t *testing.T) {
	t.Parallel()
	batch := func(kinds ...session.Kind) (b session.Batch) {
		for _, k := range kinds {
			b.Events = append(b.Events, session.New(k, struct{}{}))
		}
		return b
	}
	batches := []session.Batch{batch("a"), batch("b", "b", "a"), batch("a"), batch("b")}
	for text, want := range map[string]int{
		"append:1:before": 0, "append:3:after": 2, "append:9:after": -1,
		"kind:a:1:during": 0, "kind:a:2:before": 1, "kind:b:1:after": 1, "kind:b:2:after": 1, "kind:b:3:after": 3, "kind:c:1:after": -1,
	} {
		p, err := findCrashPoint(crashAt(text))
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		for i, b := range batches {
			if p.reached(b) {
				if got >= 0 {
					t.Errorf("%s: reached at %d and %d", text, got, i)
				}
				got = i
			}
		}
		if got != want {
			t.Errorf("%s: reached at append %d, want %d", text, got, want)
		}
	}
}

func TestCrashPointsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"append", "append:0:before", "append:x:before", "append:1:sometimes", "append:1", "kind:a:1", "kind::1:after", "kind:a:1:after:2", "never"} {
		if p, err := findCrashPoint(crashAt(text)); err == nil {
			t.Errorf("%q is taken for %+v", text, p)
		}
	}
}

// Without the variable the log is the store's own; with it, it still hears mail.
func TestCrashPointsCostNothingWhereThereAreNone(t *testing.T) {
	t.Parallel()
	log, err := memlog.New().Create(t.Context(), session.Created{ID: "s1", Time: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	none, err := findCrashPoint(crashAt(""))
	if err != nil || none.guard(log) != log {
		t.Errorf("%+v, %v", none, err)
	}
	far, err := findCrashPoint(crashAt("append:1000:before"))
	if err != nil {
		t.Fatal(err)
	}
	guarded := far.guard(log)
	if _, ok := guarded.(session.MailLog); !ok {
		t.Error("the guarded log hears no mail")
	}
	if head, err := guarded.Append(t.Context(), session.Batch{Head: 1, Events: []session.Event{session.New("a", struct{}{})}}); err != nil || head != 2 {
		t.Errorf("%d, %v", head, err)
	}
}
