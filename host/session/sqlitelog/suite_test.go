package sqlitelog_test

import (
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/memlog"
	"github.com/tureen-host/tureen/host/session/sessiontest"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

func open(t testing.TB, dir string) *sqlitelog.Store {
	t.Helper()
	s, err := sqlitelog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestL17_StorePromises(t *testing.T) {
	t.Parallel()
	sessiontest.Run(t, func(t *testing.T) session.Store { return open(t, t.TempDir()) })
}

func TestSameAsMemory(t *testing.T) {
	t.Parallel()
	sessiontest.Compare(t, open(t, t.TempDir()), memlog.New())
}

func TestStoresSameAsMemory(t *testing.T) {
	t.Parallel()
	sessiontest.CompareStores(t, open(t, t.TempDir()), memlog.New())
}
