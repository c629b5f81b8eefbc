package sqlitelog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// post leaves a steer and is for any goroutine.
func post(t *testing.T, s *sqlitelog.Store, id, text string) {
	t.Helper()
	if err := s.Post(t.Context(), id, session.Mail{Command: session.CommandSteer, Text: text}); err != nil {
		t.Errorf("post %s to %s: %v", text, id, err)
	}
}

// mail are the texts of what waits.
func mail(t *testing.T, log session.Log) (texts []string) {
	t.Helper()
	waiting, err := log.(session.MailLog).Mail(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range waiting {
		texts = append(texts, m.Text)
	}
	return texts
}

func TestPostLeavesNoFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Post(t.Context(), "a", session.Mail{}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("error is %v", err)
	}
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("files are %v", names)
	}
	create(t, s, "a").Close()
	s.Close()
	s = open(t, dir)
	post(t, s, "a", "one")
	s.Close()
	if got := fmt.Sprint(files(t, dir)); got != "[catalogue-2.db mail.bell a.db]" {
		t.Errorf("files are %s", got)
	}
}

func TestPostWaitsForAWriterUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log := create(t, s, "a")
	release := occupy(t, path(dir, "a"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Post(ctx, "a", session.Mail{Text: "never"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		post(t, s, "a", "late")
	}()
	if got := mail(t, log); len(got) != 0 {
		t.Errorf("mail is %v", got)
	}
	release()
	<-posted
	if got := fmt.Sprint(mail(t, log)); got != "[late]" {
		t.Errorf("mail is %s", got)
	}
}

func TestPostRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	for _, id := range []string{"a", "b", "c"} {
		create(t, s, id).Close()
	}
	runSQL(t, path(dir, "a"), `PRAGMA user_version = 99`)
	write(t, path(dir, "b"), []byte(strings.Repeat("soup", 3000)))
	if err := s.Post(t.Context(), "a", session.Mail{}); !errors.Is(err, session.ErrNewer) || !strings.Contains(err.Error(), "newer tureen") {
		t.Errorf("to a newer file: %v", err)
	}
	explained(t, s.Post(t.Context(), "b", session.Mail{}), path(dir, "b"))
	post(t, s, "c", "one")
	if v := userVersion(t, path(dir, "a")); v != 99 {
		t.Errorf("the newer file's schema is now %d", v)
	}
	if err := os.Remove(path(dir, "c")); err != nil {
		t.Fatal(err)
	}
	if err := s.Post(t.Context(), "c", session.Mail{}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("to a file that was deleted: %v", err)
	}
}

func TestPostToASessionThatIsRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	create(t, s, "a").Close()
	release := occupy(t, path(dir, "a"))
	posted := make(chan error)
	go func() { posted <- s.Post(t.Context(), "a", session.Mail{}) }()
	time.Sleep(20 * time.Millisecond) // for Post to open the file; it may come late too
	remove(t, s, "a")
	release()
	if err := <-posted; !errors.Is(err, session.ErrNotFound) {
		t.Errorf("error is %v", err)
	}
}

// An owner that need not look, as nobody rang since it did, sees the next mail all the
// same, from whatever store it comes; one whose poster could not ring comes late.
func TestMailIsSeenByWhoNeedNotLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	log, beside := create(t, s, "a"), create(t, s, "b")
	for round, from := range []*sqlitelog.Store{s, other, s, other} {
		appendTo(t, log, 1)
		for range 2 {
			if got := mail(t, log); len(got) != 0 || !sqlitelog.NoMailKnown(log) {
				t.Fatalf("round %d: mail is %v", round, got)
			}
		}
		text := fmt.Sprint("mail ", round)
		post(t, from, "a", text)
		for range 2 { // it is there until it is taken
			if got := mail(t, log); len(got) != 1 || got[0] != text {
				t.Fatalf("round %d: mail is %v", round, got)
			}
		}
		if got := mail(t, beside); len(got) != 0 || !sqlitelog.NoMailKnown(beside) {
			t.Fatalf("round %d: the mail of another session is %v", round, got)
		}
		waiting, _ := log.(session.MailLog).Mail(t.Context())
		head, _ := log.Head(t.Context())
		if _, err := log.Append(t.Context(), session.Batch{Head: head, Taken: []int64{waiting[0].ID},
			Events: []session.Event{session.New(session.KindWarning, session.Warning{Code: "X", Message: text})}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "mail.bell")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "mail.bell"), 0o700); err != nil {
		t.Fatal(err)
	}
	mail(t, log)
	post(t, other, "a", "unheard")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if got := mail(t, log); len(got) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("mail that nobody rang for never came")
		}
	}
}
