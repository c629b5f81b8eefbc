package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// relative is a session with a person and relatives.
type relative struct {
	lentSession
	heard []string
}

func (r *relative) Ask(_ context.Context, q session.Question, timeout time.Duration) (session.Answer, error) {
	r.heard = append(r.heard, fmt.Sprint("ask ", q.Text, q.Options, timeout))
	return session.Answer{ID: "q1", Outcome: session.OutcomePending}, nil
}
func (r *relative) FollowUp(_ context.Context, text, key string) error {
	r.heard = append(r.heard, "follow up "+text+" "+key)
	return nil
}
func (r *relative) Spawn(_ context.Context, s session.Spawn) (session.Child, error) {
	if s.Label == "full" {
		return session.Child{}, &sdk.Error{Code: "CAPACITY", Message: "8 of 8 are at work"}
	}
	if s.Fork {
		r.heard = append(r.heard, "fork for "+s.Task)
	}
	return session.Child{ID: "c", Label: s.Label + string(s.Data), Depth: 1, State: session.StateRunning}, nil
}
func (r *relative) Children(context.Context) ([]session.Child, error) {
	return []session.Child{{ID: "c", Depth: 2, State: session.StateSettled, Reason: session.ReasonLimit}}, nil
}
func (r *relative) Tell(_ context.Context, to, text string) error {
	r.heard = append(r.heard, "tell "+to+" "+text)
	return nil
}
func (r *relative) Interrupt(_ context.Context, child string) error {
	return errors.New("no child " + child)
}

func TestS1_S2_S5_T18_PersonAndRelativesAreReachedOverTheWire(t *testing.T) {
	t.Parallel()
	r := &relative{}
	err := borrow(t, r, func(ctx context.Context, a session.Access) error {
		answer, err := a.Ask(ctx, session.Question{Text: "which?", Options: []session.Option{{Label: "a"}}}, 2*time.Second)
		if err != nil || !reflect.DeepEqual(answer, session.Answer{ID: "q1", Outcome: session.OutcomePending}) {
			return fmt.Errorf("ask: %+v %v", answer, err)
		}
		if _, err := a.Ask(ctx, session.Question{}, 0); err == nil {
			return errors.New("a question without a text was asked")
		}
		child, err := a.Spawn(ctx, session.Spawn{Task: "look", Label: "scout", Data: json.RawMessage(`{"n":1}`)})
		if err != nil || child != (session.Child{ID: "c", Label: `scout{"n":1}`, Depth: 1, State: session.StateRunning}) {
			return fmt.Errorf("spawn: %+v %v", child, err)
		}
		if _, err := a.Spawn(ctx, session.Spawn{Task: "think", Fork: true}); err != nil {
			return fmt.Errorf("fork: %w", err)
		}
		var own *sdk.Error
		if _, err := a.Spawn(ctx, session.Spawn{Task: "look", Label: "full"}); !errors.As(err, &own) || own.Code != "CAPACITY" {
			return fmt.Errorf("spawn at capacity: %v", err)
		}
		children, err := a.Children(ctx)
		if err != nil || len(children) != 1 || children[0].Reason != session.ReasonLimit {
			return fmt.Errorf("children: %+v %v", children, err)
		}
		if err := a.Interrupt(ctx, "x"); err == nil || err.Error() != "no child x" {
			return fmt.Errorf("interrupt: %v", err)
		}
		return errors.Join(a.Tell(ctx, "c", "more"), a.FollowUp(ctx, "next", "k"))
	})
	if err != nil {
		t.Error(err)
	}
	if want := []string{"ask which?[{a }] 2s", "fork for think", "tell c more", "follow up next k"}; !reflect.DeepEqual(r.heard, want) {
		t.Errorf("the host heard %q", r.heard)
	}
}

func TestPersonAndRelativesNeedACapability(t *testing.T) {
	t.Parallel()
	err := borrow(t, &relative{}, func(ctx context.Context, a session.Access) error {
		_, asked := a.Ask(ctx, session.Question{Text: "q"}, 0)
		_, spawned := a.Spawn(ctx, session.Spawn{Task: "t"})
		if !errors.Is(asked, sdk.ErrDenied) || !errors.Is(spawned, sdk.ErrDenied) {
			return fmt.Errorf("not denied: %w, %w", asked, spawned)
		}
		return nil
	}, sdk.CapUserAsk, sdk.CapSessionSpawn)
	if err != nil {
		t.Error(err)
	}
}
