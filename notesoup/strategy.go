package notesoup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// Carry says what a reset repeats from the log.
type Carry string

const (
	CarryNone    Carry = "none"
	CarryRequest Carry = "request" // the owner's request, word for word
)

// Config is what a profile may set. The zero value is the default.
type Config struct {
	Carry Carry `json:"carry"` // "" = none
	// AgentName names the @self home; "" = the session's agent.
	AgentName string `json:"agent_name"`
	// BootInCheckpoint puts the boot into the checkpoint message too.
	BootInCheckpoint bool `json:"boot_in_checkpoint"`
	// LastWords grants one step before a reset that nobody asked for, where nothing
	// was saved in the window.
	LastWords bool `json:"last_words"`
	// Strict is the plain form: a boot without receipts that is never shortened, a
	// fixed prompt of any size, and pages bounded by bytes alone.
	Strict bool `json:"strict"`
}

// fingerprint tells configs apart in window records.
func (c Config) fingerprint() string {
	b, _ := json.Marshal(c)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// Notes opens the notes of a session. The strategy and the note tools of one
// process share it.
type Notes func(compaction.Session) (*notes.Store, error)

// Strategy is the notes reset (N1). It is safe for concurrent use.
type Strategy struct {
	config Config
	notes  Notes

	mu       sync.Mutex
	sessions map[string]compaction.Session
	granted  map[string]bool // last words: may the newest step be the granted one; no entry = not known
}

// New makes the strategy.
func New(c Config, n Notes) *Strategy {
	return &Strategy{config: c, notes: n, sessions: map[string]compaction.Session{}, granted: map[string]bool{}}
}

// Open adopts the window that the log is in, or begins the first one. An adopted
// boot is shown as it was, whatever the notes say now (N2). What the host must lend is
// tried first (N22).
func (s *Strategy) Open(ctx context.Context, sess compaction.Session) (compaction.Opening, error) {
	if _, err := sess.Access.Meter(ctx); err != nil {
		return compaction.Opening{}, fmt.Errorf("notesoup: the host does not tell how full the context is: %w", err)
	}
	w, _, kept, err := adopt(ctx, sess.Access)
	if err != nil {
		return compaction.Opening{}, err
	}
	switch {
	case w.ID == "":
		now, err := s.shelf(ctx, sess)
		if err != nil {
			return compaction.Opening{}, err
		}
		w = s.frozen(sess, NewWindow(sess.ID, 1, sess.Created), now, nil)
	case w.Identity != nil:
		if store, err := s.notes(sess); err == nil { // else the tools say what is wrong with the notes
			store.Belong(*w.Identity)
		}
	}
	if !s.config.Strict {
		if err := roomy(sess, w); err != nil {
			return compaction.Opening{}, err
		}
	}
	opening := compaction.Opening{Sections: []compaction.Section{w.Section()}, Marks: Marks(sess.Budget)}
	if !kept {
		opening.Records = []compaction.Record{w.Record()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[sess.ID] = sess
	return opening, nil
}

// roomy refuses a window that its fixed prompt fills to the half (N13).
func roomy(sess compaction.Session, w Window) error {
	fixed := sess.FixedTokens + llm.EstimateText(w.Boot)
	if b := sess.Budget; b.Window > 0 && b.ResetAt < 2*fixed {
		return &compaction.ConfigError{Code: compaction.CodeBudgetConfig,
			Reason: fmt.Sprintf("the line at %d tokens is below twice the fixed prompt of %d (system prompt and tools %d, notebook %d)", b.ResetAt, fixed, sess.FixedTokens, fixed-sess.FixedTokens),
			Change: []string{fmt.Sprintf("model.context_window (%d)", b.Window), fmt.Sprintf("model.max_output_tokens (%d)", b.MaxOutputTokens), "the number of plugins with tools"}}
	}
	return nil
}

// Propose answers every trigger with a reset of all nodes behind node 0 (N15).
// There is nothing to do where there are none, where a call has no result yet,
// and, unless the agent asked, where an earlier reset is all there is or a single
// message that would not become shorter.
func (s *Strategy) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	var nodes []session.Node
	for n, err := range in.Outline {
		if err != nil {
			return compaction.Proposal{}, fmt.Errorf("notesoup: read the surface: %w", err)
		}
		nodes = append(nodes, n)
	}
	if len(nodes) < 2 || !compaction.Balanced(nodes) || len(nodes) == 2 && nodes[1].Source == session.SourceCheckpoint && in.Trigger != session.TriggerRequested {
		return compaction.Proposal{}, nil
	}
	s.mu.Lock()
	sess, ok := s.sessions[in.Session]
	s.mu.Unlock()
	if !ok {
		return compaction.Proposal{}, fmt.Errorf("notesoup: reset session %q: it was not opened", in.Session)
	}
	sess.Budget = in.Budget
	m, err := s.gather(ctx, sess, in)
	if err != nil {
		return compaction.Proposal{}, err
	}
	if s.lastWords(in, m.saved) {
		return s.postpone(in), nil
	}
	w := NewWindow(sess.ID, max(1, m.old.Ordinal)+1, in.Time)
	w.Note = in.Note
	w = s.frozen(sess, w, m.notes, m.saved)
	p := Reset(ResetInput{
		Revision: in.Revision, Trigger: in.Trigger, Seed: in.Seed, Budget: in.Budget, Window: w, Carry: m.carry, Index: m.index, Subagent: sess.Parent != "",
		Span:             compaction.Span{From: nodes[1].Seq, To: nodes[len(nodes)-1].Seq},
		BootInCheckpoint: s.config.BootInCheckpoint,
	})
	if lone := nodes[0].Tokens + nodes[1].Tokens; len(nodes) == 2 && in.Trigger != session.TriggerRequested && compaction.After(nodes, p, nil) >= lone {
		return compaction.Proposal{}, nil
	}
	return p, nil
}

// materials are what a new window is made of.
type materials struct {
	old   Window
	saved []string // its write receipts
	notes shelf
	carry []Said
	index Index
}

// shelf is the notes as they are now.
type shelf struct {
	project notes.Identity
	homes   []notes.Snapshot
}

// gather reads the materials side by side; of several failures the log's is told.
func (s *Strategy) gather(ctx context.Context, sess compaction.Session, in compaction.Input) (materials, error) {
	var m materials
	var logErr, notesErr, carryErr, indexErr error
	var all sync.WaitGroup
	all.Go(func() {
		var since int64
		if m.old, since, _, logErr = adopt(ctx, in.Access); logErr == nil {
			m.saved, logErr = receipts(ctx, in.Access, since)
		}
	})
	all.Go(func() { m.notes, notesErr = s.shelf(ctx, sess) })
	if s.config.Carry == CarryRequest {
		all.Go(func() { m.carry, carryErr = owning(ctx, in.Access, in.TurnOpen) })
		all.Go(func() { m.index, indexErr = index(ctx, in.Access) })
	}
	all.Wait()
	return m, cmp.Or(logErr, carryErr, indexErr, notesErr)
}

// shelf finds out anew to which project the session belongs: a window begins.
func (s *Strategy) shelf(ctx context.Context, sess compaction.Session) (shelf, error) {
	store, err := s.notes(sess)
	if err != nil {
		return shelf{}, err
	}
	store.Belong(store.Identify())
	homes, err := store.Snapshot(ctx)
	if err != nil {
		return shelf{}, fmt.Errorf("notesoup: read the notes for the boot of a window: %w", err)
	}
	return shelf{store.Project(), homes}, nil
}

// frozen is a window with the boot that the notes make.
func (s *Strategy) frozen(sess compaction.Session, w Window, n shelf, saved []string) Window {
	w.Agent, w.Model, w.Config = sess.Agent, sess.Provider+"/"+sess.Model, s.config.fingerprint()
	w.Project, w.Identity = n.project.Root, &n.project
	if s.config.AgentName != "" {
		w.Agent = s.config.AgentName
	}
	boot := BootInput{Window: w, Homes: n.homes, Receipts: saved, Usable: sess.Budget.ResetAt}
	if s.config.Strict {
		boot.Receipts, boot.Usable = nil, 0
	}
	return w.WithBoot(Boot(boot))
}

// Serves tells whether the strategy was opened for a session.
func (s *Strategy) Serves(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.sessions[id]
	return ok
}

// Close forgets a session.
func (s *Strategy) Close(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
	delete(s.granted, id)
}
