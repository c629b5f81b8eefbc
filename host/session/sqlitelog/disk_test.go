package sqlitelog_test

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// fill appends until that fails and returns the last head that was acknowledged.
func fill(ctx context.Context, log session.Log) (acked int64, err error) {
	head, err := log.Head(ctx)
	for err == nil {
		acked = head
		events := []session.Event{session.New("x", strings.Repeat("y", 9000)), session.New("x", "z")}
		head, err = log.Append(ctx, session.Batch{Head: acked, Events: events, Snapshot: fmt.Append(nil, acked+2)})
	}
	return acked, err
}

// whole checks that a log has every event up to head, and the snapshot made there.
func whole(t *testing.T, r session.Reader, head, snapshot int64) {
	t.Helper()
	var n int64
	for e, err := range r.Read(t.Context(), session.Query{}) {
		if n++; err != nil || e.Seq != n {
			t.Fatalf("event %d is %d (%v)", n, e.Seq, err)
		}
	}
	if n != head {
		t.Errorf("%d events, want %d", n, head)
	}
	if data, at, err := r.Snapshot(t.Context()); at != snapshot || string(data) != fmt.Sprint(snapshot) || err != nil {
		t.Errorf("snapshot is %s at %d (%v), want that of %d", data, at, err, snapshot)
	}
}

func TestL17_FullStoreLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	log := create(t, s, "a")
	post(t, s, "a", "one")
	if err := sqlitelog.Limit(log, 120); err != nil {
		t.Fatal(err)
	}
	acked, err := fill(t.Context(), log)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("error is %v", err)
	}
	b := session.Batch{Head: acked, Events: []session.Event{session.New("x", strings.Repeat("y", 9000))}, Taken: []int64{1}}
	if _, err := log.Append(t.Context(), b); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error is %v", err)
	}
	if got := mail(t, log); acked < 20 || len(got) != 1 {
		t.Errorf("acknowledged are %d, mail is %v", acked, got)
	}
	whole(t, log, acked, acked)

	if err := sqlitelog.Limit(log, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(t.Context(), b); err != nil {
		t.Errorf("append with room again: %v", err)
	}
	log.Close()
	log, err = s.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	whole(t, log, acked+1, acked)
}

// The system refuses the write in the middle of it, as a full disk does.
func TestL17_FailedWriteLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := start(t, "fill", dir, 0)
	acked, err := strconv.ParseInt(c.line(t), 10, 64)
	if err != nil || acked < 40 {
		t.Fatalf("acknowledged are %d (%v)", acked, err)
	}
	for _, doing := range []string{"append", "again", "post", "create"} {
		got := c.line(t)
		t.Log(got)
		if !strings.HasPrefix(got, doing+": session ") || !strings.Contains(got, dir) {
			t.Errorf("%q", got)
		}
	}
	if got := c.line(t); got != fmt.Sprintf("head: %d <nil>", acked) {
		t.Errorf("%q, acknowledged are %d", got, acked)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t, dir) {
		if strings.HasPrefix(name, "b.") {
			t.Errorf("%s is left over", name)
		}
	}
	s := open(t, dir)
	log, err := s.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	whole(t, log, acked, acked)
	appendTo(t, log, 3)
	if got := mail(t, log); len(got) != 0 {
		t.Errorf("mail is %v", got)
	}
}

// childFill makes session a and fills it under a limit on the size of files. It
// prints what it could and what it could not do, and gives the session up with the
// limit still there.
func childFill(dir string) error {
	ctx := context.Background()
	signal.Ignore(syscall.SIGXFSZ)
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	log, err := store.Create(ctx, session.Created{ID: "a"})
	if err != nil {
		return err
	}
	if err := limitFiles(1 << 20); err != nil {
		return err
	}
	acked, full := fill(ctx, log)
	fmt.Println(acked)
	say := func(doing string, err error) {
		fmt.Println(doing+":", strings.ReplaceAll(fmt.Sprint(err), "\n", " "))
	}
	say("append", full)
	_, err = log.Append(ctx, session.Batch{Head: acked, Events: []session.Event{session.New("x", strings.Repeat("y", 1<<20))}})
	say("again", err)
	say("post", store.Post(ctx, "a", session.Mail{Text: strings.Repeat("y", 1<<20)}))
	if err := limitFiles(8 << 10); err != nil {
		return err
	}
	_, err = store.Create(ctx, session.Created{ID: "b"})
	say("create", err)
	head, err := log.Head(ctx)
	fmt.Println("head:", head, err)
	return log.Close()
}

func limitFiles(bytes uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = bytes
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}
