package sessiontest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/session"
)

// CompareStores runs the same random operations on two whole stores, on several
// sessions at once, and demands the same outcomes. It closes the stores.
func CompareStores(t *testing.T, a, b session.Store) {
	ctx := newKit(t, a).ctx
	newKit(t, b)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		one, two := newHolder(a, n), newHolder(b, n)
		defer one.clear(ctx)
		defer two.clear(ctx)
		t.Repeat(map[string]func(*rapid.T){"": func(t *rapid.T) {
			if x, y := one.list(ctx), two.list(ctx); x != y {
				t.Fatalf("lists differ\nfirst:  %s\nsecond: %s", x, y)
			}
		}, "act": func(t *rapid.T) {
			do := drawAct(t)
			if x, y := do(ctx, one), do(ctx, two); x != y {
				t.Fatalf("outcomes differ\nfirst:  %s\nsecond: %s", x, y)
			}
		}})
	})
}

// holder is a store and the sessions of one run in it, whose ids begin alike.
type holder struct {
	store  session.Store
	prefix string
	logs   map[string]session.Log // by id, those that are open
}

func newHolder(store session.Store, n int) *holder {
	return &holder{store, fmt.Sprintf("r%05d-", n), map[string]session.Log{}}
}

// clear removes the run's sessions.
func (h *holder) clear(ctx context.Context) {
	for _, log := range h.logs {
		log.Close()
	}
	for _, name := range names {
		_ = h.store.(session.Remover).Remove(ctx, h.prefix+name)
	}
}

func (h *holder) list(ctx context.Context) string {
	list, err := h.store.List(ctx)
	var b strings.Builder
	b.WriteString(class(err))
	for _, s := range list {
		if strings.HasPrefix(s.ID, h.prefix) {
			s.Bytes = 0 // differs by nature
			origin := s.Origin
			s.Origin = nil
			fmt.Fprintf(&b, "\n%+v %+v", s, origin)
		}
	}
	return b.String()
}

var names = []string{"a", "ab", "b"}

// act is one thing that is done to a store. It returns what there is to see of it.
type act func(ctx context.Context, h *holder) string

func drawAct(t *rapid.T) act {
	name := rapid.SampledFrom(names).Draw(t, "session")
	switch rapid.SampledFrom([]string{"create", "open", "close", "append", "append", "archive", "read", "post", "import", "copy", "salvage", "remove", "resolve"}).Draw(t, "do") {
	case "create":
		created := session.Created{Title: rapid.String().Draw(t, "title"), Time: time.Unix(rapid.Int64Range(1, 5).Draw(t, "time"), 0)}
		return func(ctx context.Context, h *holder) string {
			created.ID = h.prefix + name
			return h.keep(h.store.Create(ctx, created))
		}
	case "open":
		return func(ctx context.Context, h *holder) string { return h.keep(h.store.Open(ctx, h.prefix+name)) }
	case "close":
		return func(_ context.Context, h *holder) string { return h.close(name) }
	case "append":
		return appends(name, rapid.SliceOfN(drawEvent, 1, 5).Draw(t, "events"))
	case "archive":
		return appends(name, []session.Event{session.New(session.KindSessionArchived, session.Archived{Archived: rapid.Bool().Draw(t, "away")})})
	case "read":
		return reads(name, drawQuery(t, 12))
	case "post":
		m := drawMail.Draw(t, "mail")
		return func(ctx context.Context, h *holder) string {
			return "post" + class(h.store.(session.Mailbox).Post(ctx, h.prefix+name, m))
		}
	case "import":
		return imports(name, rapid.SliceOfN(drawEvent, 0, 8).Draw(t, "events"), rapid.IntRange(0, 12).Draw(t, "gap at"))
	case "copy":
		return copies(name, rapid.SampledFrom(names).Draw(t, "to"))
	case "salvage":
		return salvages(name)
	case "remove":
		return func(ctx context.Context, h *holder) string {
			return "remove" + class(h.store.(session.Remover).Remove(ctx, h.prefix+name))
		}
	}
	return func(ctx context.Context, h *holder) string {
		id, err := h.store.Resolve(ctx, strings.ToUpper(h.prefix+name))
		return id + class(err)
	}
}

func (h *holder) keep(log session.Log, err error) string {
	if err == nil {
		h.logs[log.ID()] = log
	}
	return "take" + class(err)
}

func (h *holder) close(name string) string {
	log := h.logs[h.prefix+name]
	if log == nil {
		return "not open"
	}
	delete(h.logs, log.ID())
	return "close" + class(log.Close())
}

func appends(name string, events []session.Event) act {
	return func(ctx context.Context, h *holder) string {
		log := h.logs[h.prefix+name]
		if log == nil {
			return "not open"
		}
		head, err := log.Head(ctx)
		if err == nil {
			head, err = log.Append(ctx, session.Batch{Head: head, Events: timed(events), Snapshot: fmt.Append(nil, head)})
		}
		return fmt.Sprintf("append to %d%s", head, class(err))
	}
}

// timed gives events of one clock the same times in both stores.
func timed(events []session.Event) []session.Event {
	events = slices.Clone(events)
	for i := range events {
		if events[i].Time.IsZero() {
			events[i].Time = time.Unix(7, 0)
		}
	}
	return events
}

func reads(name string, q session.Query) act {
	return func(ctx context.Context, h *holder) string {
		view, err := h.store.View(ctx, h.prefix+name)
		if err != nil {
			return "view" + class(err)
		}
		defer view.Close()
		events, err := collect(ctx, view, q)
		snapshot, at, err2 := view.Snapshot(ctx)
		return fmt.Sprintf("%s%s, snapshot %q at %d%s", shown(events), class(err), snapshot, at, class(err2))
	}
}

func imports(name string, events []session.Event, gap int) act {
	return func(ctx context.Context, h *holder) string {
		log := numbered("elsewhere", events...)
		if gap < len(log) && gap%3 == 0 {
			log[gap].Seq++
		}
		asked := 0
		err := h.store.(session.Importer).Import(ctx, h.prefix+name, all(log), func() []byte { asked++; return fmt.Append(nil, asked) })
		return fmt.Sprintf("import, asked %d%s", asked, class(err))
	}
}

func copies(from, to string) act {
	return func(ctx context.Context, h *holder) string {
		view, err := h.store.View(ctx, h.prefix+from)
		if err != nil {
			return "view" + class(err)
		}
		defer view.Close()
		return "copy" + class(h.store.(session.Importer).Import(ctx, h.prefix+to, view.Read(ctx, session.Query{}), nil))
	}
}

func salvages(name string) act {
	return func(ctx context.Context, h *holder) string {
		var events []session.Event
		var last error
		for e, err := range h.store.(session.Salvager).Salvage(ctx, h.prefix+name) {
			if last = err; err == nil {
				events = append(events, e)
			}
		}
		return shown(events) + class(last)
	}
}

func shown(events []session.Event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("\n\t" + print(e))
	}
	return b.String()
}
