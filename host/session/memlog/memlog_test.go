package memlog_test

import (
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/memlog"
	"github.com/tureen-host/tureen/host/session/sessiontest"
)

func TestL17_StorePromises(t *testing.T) {
	sessiontest.Run(t, func(*testing.T) session.Store { return memlog.New() })
}
