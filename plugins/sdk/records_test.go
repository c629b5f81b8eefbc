package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// keeps adds a record to what a session holds.
func (a *lentSession) keeps(plugin, kind, key, data string) {
	e := session.New(session.KindRecord, session.Record{Plugin: plugin, Kind: kind, Key: key, Data: json.RawMessage(data)})
	e.Seq = int64(len(a.held) + 1)
	a.held = append(a.held, e)
	a.events = a.held // what parts are read from
}

// held reads records inside the plugin and returns the events as JSON.
func held(t *testing.T, lent session.Access, kind string, deny ...sdk.Capability) (list [][]byte, err error) {
	t.Helper()
	failed := borrow(t, lent, func(ctx context.Context, a session.Access) error {
		for e, eerr := range a.Records(ctx, kind) {
			if err = eerr; err != nil {
				return nil
			}
			b, _ := json.Marshal(e)
			list = append(list, b)
		}
		return nil
	}, deny...)
	return list, errors.Join(err, failed)
}

func same(t *testing.T, lent *lentSession, kind string, got [][]byte) {
	t.Helper()
	n := 0
	for e := range lent.Records(t.Context(), kind) {
		want, _ := json.Marshal(e)
		if n == len(got) || !bytes.Equal(got[n], want) {
			t.Fatalf("kind %q: of %d records the %dth is not %.80s", kind, len(got), n+1, want)
		}
		n++
	}
	if n != len(got) {
		t.Errorf("kind %q: %d records arrived, want %d", kind, len(got), n)
	}
}

// TestC108_RecordsArriveInPagesAndWhole: more than a page of them, one bigger than a
// page, one bigger than a message; what another plugin keeps and what was taken away
// does not.
func TestC108_RecordsArriveInPagesAndWhole(t *testing.T) {
	t.Parallel()
	lent := &lentSession{}
	for i := range 700 {
		lent.keeps("borrower", []string{"a", "b"}[i%2], fmt.Sprint(i), fmt.Sprintf("%q", strings.Repeat("x", 1000)))
	}
	lent.keeps("other", "a", "", "1")
	lent.keeps("borrower", "a", "4", "null")
	lent.keeps("borrower", "b", "5", `"again"`)
	lent.keeps("borrower", "b", "big", fmt.Sprintf("%q", strings.Repeat("é", 300_000)))
	lent.keeps("borrower", "a", "last", "3")
	for kind, want := range map[string]int{"": 701, "a": 350, "b": 351, "c": 0} {
		got, err := held(t, lent, kind, sdk.CapSessionRead)
		if err != nil || len(got) != want {
			t.Errorf("kind %q: %d records, %v, want %d", kind, len(got), err, want)
		}
		same(t, lent, kind, got)
	}

	lent.keeps("borrower", "b", "<", fmt.Sprintf("%q", strings.Repeat("<", 700_000))) // as JSON it is six times as long
	got, err := held(t, lent, "")
	if err != nil {
		t.Fatal(err)
	}
	same(t, lent, "", got)
	if _, err := held(t, lent, "", sdk.CapSessionRead); !errors.Is(err, sdk.ErrDenied) || !strings.Contains(fmt.Sprint(err), "session.read") {
		t.Errorf("a record in parts, without session.read: %v", err)
	}
}

// TestC108_RecordsTakeTheirOwnCapability: it is the one that they are written with.
func TestC108_RecordsTakeTheirOwnCapability(t *testing.T) {
	t.Parallel()
	lent := &lentSession{}
	lent.keeps("borrower", "a", "", "1")
	if got, err := held(t, lent, "", sdk.CapRecordsWrite); !errors.Is(err, sdk.ErrDenied) || len(got) > 0 {
		t.Errorf("%d records, %v", len(got), err)
	}
	if _, err := held(t, session.Refusing{}, ""); err == nil {
		t.Error("a session that lends nothing lent its records")
	}
	err := borrow(t, lent, func(ctx context.Context, a session.Access) error {
		return a.PutRecord(ctx, "a/b", "", json.RawMessage("1"))
	})
	if err == nil || !strings.Contains(err.Error(), "without a slash") || len(lent.records) > 0 {
		t.Errorf("a kind with a slash: %v", err)
	}
}
