package memlog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// Post implements session.Mailbox.
func (s *Store) Post(ctx context.Context, id string, m session.Mail) error {
	r, err := s.get(ctx, id)
	if err != nil {
		return err
	}
	m, err = store.StampMail(m, time.Now())
	if err != nil {
		return fmt.Errorf("session %s: leave mail: %w", id, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.removed {
		return store.NotFound(id)
	}
	r.posted++
	m.ID = r.posted
	r.mail = append(r.mail, m)
	return nil
}

// without returns the mail that waits less what is taken.
func (r *record) without(taken []int64) ([]session.Mail, error) {
	mail := slices.Clone(r.mail)
	for _, id := range taken {
		i := slices.IndexFunc(mail, func(m session.Mail) bool { return m.ID == id })
		if i < 0 {
			return nil, store.NoMail(id)
		}
		mail = slices.Delete(mail, i, i+1)
	}
	return mail, nil
}

// Mail implements session.MailLog.
func (l *log) Mail(ctx context.Context) ([]session.Mail, error) {
	if err := l.check(ctx); err != nil {
		return nil, err
	}
	l.record.mu.RLock()
	defer l.record.mu.RUnlock()
	return slices.Clone(l.record.mail), nil
}
