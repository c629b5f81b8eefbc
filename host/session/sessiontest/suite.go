// Package sessiontest checks that a session.Store keeps the promises of its
// interface, and that two stores behave alike.
package sessiontest

import (
	"slices"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

// promise is one case of the suite: what a store promises, in words that a failed
// run prints, and the check of it.
type promise struct {
	name string
	text string
	test func(k *kit)
}

// Run checks every promise, those of session.Mailbox, MailLog and Remover too, and
// those of Importer and Salvager where the store is one, each on a store of its own
// that open makes. A store must work while others that open made are in use. Run
// closes the stores; what lies under them is open's to clean up.
func Run(t *testing.T, open func(t *testing.T) session.Store) {
	for _, p := range slices.Concat(appending, reading, owning, listing, mailing, taking, removing, able(newKit(t, open(t)).store)) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("broken promise: %s", p.text)
				}
			})
			p.test(newKit(t, open(t)))
		})
	}
	t.Run("RandomOperations", func(t *testing.T) {
		t.Parallel()
		checkAgainstModel(t, open(t))
	})
}
