package sqlitelog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// The disk is full at each write of a session's life in turn: what was acknowledged
// is there, and the session goes on once there is room.
func TestC100_FullDiskAtEveryWrite(t *testing.T) {
	t.Parallel()
	c := start(t, "tight", t.TempDir(), 0)
	lives, failed := 0, map[string]int{}
	for c.lines.Scan() {
		doing, text, _ := strings.Cut(c.lines.Text(), ": ")
		switch doing {
		case "life":
			lives++
		case "create", "append", "post", "import":
			if failed[doing]++; !strings.Contains(text, "session") {
				t.Errorf("%s: %s", doing, text)
			}
		default:
			t.Error(c.lines.Text())
		}
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if lives < 30 || failed["create"] == 0 || failed["append"] == 0 || failed["post"] == 0 || failed["import"] == 0 {
		t.Errorf("%d lives, in which failed %v: not every write was tried", lives, failed)
	}
}

// childTight lives the life of a session under each limit on the size of files. It
// prints what failed, as it may, and what was wrong after.
func childTight(dir string) error {
	ctx := context.Background()
	signal.Ignore(syscall.SIGXFSZ)
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	for limit := uint64(1000); limit < 200_000; limit += 4096 + 512 {
		id := fmt.Sprint("s", limit)
		if err := limitFiles(limit); err != nil {
			return err
		}
		log, err := store.Create(ctx, session.Created{ID: id})
		if err != nil {
			fmt.Println("create:", oneLine(err))
		}
		acked, posted := int64(1), 0
		for i := 0; i < 12 && log != nil; i++ {
			b := session.Batch{Head: acked, Events: []session.Event{session.New("x", i), session.New(session.KindTurnEnded, strings.Repeat("y", 500*i))}}
			if i%4 == 3 {
				b.Snapshot = []byte(strings.Repeat("s", 3000))
			}
			if head, err := log.Append(ctx, b); err != nil {
				fmt.Println("append:", oneLine(err))
			} else {
				acked = head
			}
			if err := store.Post(ctx, id, session.Mail{Text: strings.Repeat("m", 400*i)}); err != nil {
				fmt.Println("post:", oneLine(err))
			} else {
				posted++
			}
		}
		if err := store.Import(ctx, id+"-copy", generated(200), nil); err != nil {
			fmt.Println("import:", oneLine(err))
			if _, err := store.View(ctx, id+"-copy"); !errors.Is(err, session.ErrNotFound) {
				fmt.Println("half an import is there:", err)
			}
		}
		if log != nil {
			log.Close()
		}
		if err := limitFiles(1 << 30); err != nil {
			return err
		}
		if err := goesOn(ctx, store, id, log != nil, acked, posted); err != nil {
			fmt.Println("limit", limit, oneLine(err))
		}
		fmt.Println("life:", limit)
	}
	return nil
}

// goesOn checks a session after its disk was full: it has what was acknowledged, no
// more, and can be used, or be created if it was not.
func goesOn(ctx context.Context, store *sqlitelog.Store, id string, created bool, acked int64, posted int) error {
	var log session.Log
	var err error
	if created {
		log, err = store.Open(ctx, id)
	} else {
		log, err = store.Create(ctx, session.Created{ID: id})
	}
	if err != nil {
		return err
	}
	defer log.Close()
	n := int64(0)
	for e, err := range log.Read(ctx, session.Query{}) {
		if n++; err != nil || e.Seq != n {
			return fmt.Errorf("event %d is %d: %w", n, e.Seq, err)
		}
	}
	mail, err := log.(session.MailLog).Mail(ctx)
	if n != acked || len(mail) != posted || err != nil {
		return fmt.Errorf("%d events and %d mails (%v), acknowledged were %d and %d", n, len(mail), err, acked, posted)
	}
	_, err = log.Append(ctx, session.Batch{Head: n, Events: []session.Event{session.New("x", "goes on")}})
	return err
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// A process that is killed while it imports leaves no session, and the id is free.
func TestD1_KilledImportLeavesNoSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := start(t, "import", dir, 0)
	c.line(t)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	if _, err := os.Stat(path(dir, "a") + ".new"); err != nil {
		t.Fatalf("it was not at work: %v", err)
	}
	s := open(t, dir)
	if got := statuses(t, s); len(got) != 0 {
		t.Errorf("sessions are %v", got)
	}
	if _, err := s.View(t.Context(), "a"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("view: %v", err)
	}
	if err := s.Import(t.Context(), "a", generated(300), nil); err != nil {
		t.Fatal(err)
	}
	if log, err := s.Open(t.Context(), "a"); err != nil {
		t.Error(err)
	} else {
		if events, err := readAll(log, nil); err != nil || len(events) != 300 {
			t.Errorf("%d events (%v)", len(events), err)
		}
		log.Close()
	}
	noLocks(t, dir)
}

// childImport imports for ever.
func childImport(dir string) error {
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	return store.Import(context.Background(), "a", func(yield func(session.Event, error) bool) {
		for e, err := range generated(1 << 40) {
			if e.Seq == 20_000 {
				fmt.Println("at work")
			}
			if !yield(e, err) {
				return
			}
		}
	}, nil)
}

// Eight processes work in sessions of their own in one store at once.
func TestC104_ManyProcessesInOneStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const processes, rounds = 8, 50
	var wg sync.WaitGroup
	for range processes {
		c := start(t, "rounds", dir, 0)
		wg.Go(func() {
			if err := c.Wait(); err != nil {
				t.Errorf("a process: %v", err)
			}
		})
	}
	wg.Wait()
	s := open(t, dir)
	list, err := s.List(t.Context())
	if err != nil || len(list) != processes {
		t.Fatalf("%d sessions (%v)", len(list), err)
	}
	for _, sum := range list {
		view, err := s.View(t.Context(), sum.ID)
		if events, err := readAll(view, err); err != nil || len(events) != 1+2*rounds || sum.Events != int64(len(events)) || sum.Turns != rounds || sum.Status != "completed" {
			t.Errorf("%d events (%v), listed as %+v", len(events), err, sum)
		}
		view.Close()
	}
	noLocks(t, dir)
}

// childRounds makes a session and has fifty turns in it, and looks at the others.
func childRounds(dir string) error {
	ctx := context.Background()
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	log, err := store.Create(ctx, session.Created{ID: fmt.Sprint("p", os.Getpid())})
	head := int64(1)
	for turn := 1; turn <= 50 && err == nil; turn++ {
		for _, e := range []session.Event{session.New(session.KindTurnStarted, nil), session.New(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonCompleted})} {
			if err == nil {
				head, err = log.Append(ctx, session.Batch{Head: head, Events: []session.Event{e.At(turn, 0)}})
			}
		}
		if err == nil && turn%10 == 0 {
			_, err = store.List(ctx)
		}
	}
	if err != nil {
		return err
	}
	return log.Close()
}

// Two processes open one session: the second is told who has it, and nothing is lost.
func TestC105_TwoOpenersOfOneSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	c := start(t, "append", dir, 0)
	for range 10 {
		c.line(t)
		var locked *session.LockedError
		if _, err := s.Open(t.Context(), "a"); !errors.As(err, &locked) || !strings.Contains(err.Error(), fmt.Sprint("pid ", c.Process.Pid)) {
			t.Fatalf("the second opener: %v", err)
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for c.lines.Scan() { // to the end of what it said
	}
	c.Wait()
	log, err := s.Open(t.Context(), "a")
	if events, err := readAll(log, err); err != nil || len(events) < 30 || events[len(events)-1].Seq != int64(len(events)) {
		t.Errorf("%d events (%v)", len(events), err)
	}
	log.Close()
}

// A foreign process holds SQLite's lock: an append says so, writes nothing, and goes
// through once the lock is gone; readers do not notice.
func TestC104_ForeignLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log := create(t, s, "a")
	appendTo(t, log, 5)
	release := occupy(t, path(dir, "a"))
	b := session.Batch{Head: 6, Events: []session.Event{session.New("x", nil)}}
	if _, err := log.Append(t.Context(), b); err == nil || !strings.Contains(err.Error(), "another process is writing to it") {
		t.Errorf("error is %v", err)
	}
	if got, err := readAll(log, nil); err != nil || len(got) != 6 {
		t.Errorf("%d events (%v)", len(got), err)
	}
	if got := statuses(t, open(t, dir)); got["a"] != "idle" {
		t.Errorf("statuses are %v", got)
	}
	if got, err := readAll(s.View(t.Context(), "a")); err != nil || len(got) != 6 {
		t.Errorf("%d events in a view (%v)", len(got), err)
	}
	release()
	if head, err := log.Append(t.Context(), b); head != 7 || err != nil {
		t.Errorf("head is %d (%v)", head, err)
	}
}

// A file system that refuses a write-ahead log: SQLite keeps a rollback journal, and
// what was acknowledged survives a kill.
func TestC102_RefusedWriteAheadLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acked := int64(0)
	for range 3 {
		c := start(t, "flat", dir, 0)
		if got := c.line(t); got != "delete" {
			t.Fatalf("the journal is %q", got)
		}
		for range 10 {
			c.line(t)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		last := c.lines.Text()
		for c.lines.Scan() {
			last = c.lines.Text()
		}
		c.Wait()
		head, err := strconv.ParseInt(last, 10, 64)
		if err != nil || head <= acked {
			t.Fatalf("acknowledged are %q, were %d", last, acked)
		}
		acked = head
		if _, err := os.Stat(path(dir, "a") + "-wal"); err == nil {
			t.Error("there is a write-ahead log")
		}
	}
	s := open(t, dir) // and where there is one, it goes on with one
	log, err := s.Open(t.Context(), "a")
	if events, err := readAll(log, err); err != nil || int64(len(events)) < acked || int64(len(events)) > acked+batch {
		t.Errorf("%d events (%v), acknowledged were %d", len(events), err, acked)
	}
	log.Close()
}

// childFlat is childAppend where SQLite has no memory to share. It tells which
// journal the file is given first.
func childFlat(dir string) error {
	sqlitelog.WithoutSharedMemory()
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	log, err := store.Open(ctx, "a")
	if err != nil {
		log, err = store.Create(ctx, session.Created{ID: "a"})
	}
	if err != nil {
		return err
	}
	if err := store.Post(ctx, "a", session.Mail{Text: "x"}); err != nil {
		return err
	}
	mode, err := sqlitelog.Journal(log)
	if err != nil {
		return err
	}
	fmt.Println(mode)
	return appendForEver(ctx, log)
}
