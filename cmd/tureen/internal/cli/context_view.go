package cli

import (
	"context"
	"errors"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// contextView is what there is to say of a context (C19): the object of --json.
type contextView struct {
	Session   string `json:"session"`
	Seq       int64  `json:"seq"`
	Owner     string `json:"owner"`
	Archived  bool   `json:"archived"`
	Waiting   int    `json:"waiting"`
	Profile   string `json:"profile"`
	Strategy  string `json:"strategy"`
	Automatic bool   `json:"automatic"`

	Provider      string `json:"provider"`
	Model         string `json:"model"`
	Window        int    `json:"context_window"`
	WindowSource  string `json:"window_source"`
	Reserve       int    `json:"output_reserve"`
	ResetAt       int    `json:"reset_at"`
	LineReserve   int    `json:"reserve"`
	Warning       int    `json:"warning"`
	Reminder      int    `json:"reminder"`
	BudgetSource  string `json:"budget_source"`
	BudgetProblem string `json:"budget_problem,omitempty"`

	Measured       int    `json:"measured"`
	MeasuredSource string `json:"measured_source"`
	Room           int    `json:"room"`
	PastLine       bool   `json:"past_line"`
	Fixed          int    `json:"fixed"`

	Ordinal     int                      `json:"window"`
	Compactions contextCompactions       `json:"compactions"`
	Marks       []string                 `json:"marks_shown"`
	Armed       *session.CompactionArmed `json:"armed"`
	Asked       *session.CompactionAsked `json:"asked"`
	Breaker     bool                     `json:"breaker"`
	Failures    int                      `json:"failures"`
	Rest        bool                     `json:"rest"`
	Undo        contextUndo              `json:"undo"`
	Breakdown   contextParts             `json:"breakdown"`
	Turns       int                      `json:"turns"`
	Outline     []fold.TurnOutline       `json:"outline"`

	earlier int // entries of the outline that are not shown
}

// contextParts are the parts and their sum.
type contextParts struct {
	fold.Breakdown
	Total int `json:"total"`
}

// contextCompactions are those that were applied; Newest holds a few, newest first.
type contextCompactions struct {
	Count  int                 `json:"count"`
	Newest []contextCompaction `json:"newest"`
}

// contextCompaction is an applied compaction.
type contextCompaction struct {
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	host.CompactionResult
	Relieved bool `json:"relieved"`
	Undone   bool `json:"undone"`
}

// contextUndo tells whether the newest compaction can be taken back.
type contextUndo struct {
	Possible bool   `json:"possible"`
	Ordinal  int    `json:"ordinal,omitempty"`
	Why      string `json:"why,omitempty"`     // why not
	ForkAt   int64  `json:"fork_at,omitempty"` // where a branch has the surface from before it
	Command  string `json:"command,omitempty"` // what to type
}

// newestCompactions is how many of them are shown.
const newestCompactions = 5

// viewContext reads what there is to say of a session's context. It costs what its
// surface costs.
func (a *app) viewContext(ctx context.Context, s *store, prefix string, last int) (*contextView, error) {
	id, err := s.Resolve(ctx, prefix)
	if err != nil {
		return nil, err
	}
	log, err := s.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	state, err := fold.Load(ctx, log)
	if err != nil {
		return nil, stateFault(id, err)
	}
	v := &contextView{Session: id, Seq: state.Head, Archived: state.Archived, Waiting: len(state.Inbox)}
	if v.Owner, err = s.owner(ctx, id); err != nil {
		return nil, err
	}
	if mail, ok := log.(session.MailCounter); ok {
		untaken, err := mail.Untaken(ctx)
		if err != nil {
			return nil, stateFault(id, err)
		}
		v.Waiting += untaken
	}
	if v.Compactions, err = compactionsOf(ctx, log, state); err != nil {
		return nil, stateFault(id, err)
	}
	if err := v.budget(a, state); err != nil {
		return nil, err
	}
	v.fold(state, last)
	return v, nil
}

// fold takes what the log alone says.
func (v *contextView) fold(s *fold.State, last int) {
	c := s.Compaction
	v.Measured, v.MeasuredSource = s.Measure()
	if v.ResetAt > 0 {
		v.Room, v.PastLine = v.ResetAt-v.Measured, v.Measured >= v.ResetAt
	}
	v.Fixed, v.Ordinal = s.Fixed(), c.Window
	v.Marks, v.Armed, v.Asked = append([]string{}, c.Marks...), c.Armed, c.Asked
	v.Breaker, v.Failures, v.Rest = c.Breaker, c.Failures, c.Rest
	v.Undo = undoOf(v.Session, v.Owner, s)
	v.Breakdown = contextParts{s.Breakdown(), s.Estimate()}
	turns := s.Turns()
	v.earlier = max(0, len(turns)-last)
	v.Turns, v.Outline = countTurns(turns), append([]fold.TurnOutline{}, turns[v.earlier:]...)
}

// countTurns counts the turns of an outline; what no turn brought is none.
func countTurns(outline []fold.TurnOutline) int {
	seen := map[int]bool{}
	for _, t := range outline {
		seen[t.Turn] = t.Turn > 0
	}
	delete(seen, 0)
	return len(seen)
}

// undoOf judges a session that nobody works in as it stands once it is opened.
func undoOf(id, owner string, s *fold.State) contextUndo {
	if stands, err := s.Repaired(); err == nil && owner == "" {
		s = stands
	}
	before, err := s.Undoable()
	var no *fold.NoUndo
	switch {
	case err == nil:
		return contextUndo{Possible: true, Ordinal: before.Ordinal, Command: "tureen context undo --session " + id}
	case errors.As(err, &no):
		u := contextUndo{Why: no.Why, ForkAt: no.At}
		if no.At > 0 {
			u.Command = forkCommand(id, no.At)
		}
		return u
	}
	return contextUndo{Why: err.Error()}
}

// budget finds the window and the line as a resume would: from the profile, and
// what it leaves open from the newest request. Where the profile cannot be read
// and the command line names none, the keys are those of a profile that has none.
func (v *contextView) budget(a *app, s *fold.State) error {
	v.Profile, v.Strategy, v.WindowSource, v.BudgetSource = s.Created.Profile, s.Created.Strategy, "unknown", "profile"
	p, err := a.sessionProfile(s.Created.Profile, s.Created.Workspace, "")
	if err != nil {
		if a.profile != "" || len(a.overrides) > 0 || a.model != "" {
			return err
		}
		p = &profile.Profile{Compaction: profile.Compaction{OnTrigger: "auto"}}
		v.BudgetSource, v.BudgetProblem = "defaults", faultOf(err).Message
	} else if a.profile != "" || p.Origin("compaction.strategy").Source == "-c" {
		v.Profile, v.Strategy = p.Name, p.Compaction.Strategy
	}
	v.Automatic = v.Strategy != host.StrategyNone && p.Compaction.OnTrigger == "auto"
	v.endpoint(p, s.Header)
	if l := s.Learned; l != nil && l.Model == v.Model && (s.Header == nil || s.Header.ContextWindow == v.Window) && (v.Window == 0 || l.Window < v.Window) {
		v.Window, v.WindowSource = l.Window, "learned"
	}
	b, err := compaction.Resolve(p.Compaction.Budget(v.Model), v.Window, v.Reserve, v.WindowSource)
	if err != nil {
		v.BudgetSource, v.BudgetProblem = "none", err.Error()
		return nil
	}
	v.ResetAt, v.LineReserve, v.Warning, v.Reminder = b.ResetAt, b.Reserve, b.Warning, b.Reminder
	return nil
}

// endpoint takes the model and its window: as the profile writes them, or as the
// newest request to that model had them. In a session at work the request is right.
func (v *contextView) endpoint(p *profile.Profile, last *session.Header) {
	v.Provider, v.Model = p.Model.Provider, p.Model.Name
	if last != nil && (v.Owner != "" || v.Model == "" || v.Model == "auto" || v.Model == last.Model) {
		v.Provider, v.Model = last.Provider, last.Model
		v.Window, v.WindowSource, v.Reserve = last.ContextWindow, last.WindowSource, last.MaxOutputTokens
		if v.Owner != "" {
			return
		}
	}
	if p.Model.ContextWindow > 0 {
		v.Window, v.WindowSource = p.Model.ContextWindow, "profile"
	}
	if p.Model.MaxOutputTokens > 0 {
		v.Reserve = p.Model.MaxOutputTokens
	}
}

// compactionsOf reads the newest compactions.
func compactionsOf(ctx context.Context, log session.Reader, s *fold.State) (contextCompactions, error) {
	all := contextCompactions{Count: s.Compaction.Count, Newest: []contextCompaction{}}
	if all.Count == 0 {
		return all, nil
	}
	undone := map[int]bool{}
	q := session.Query{Kinds: []session.Kind{session.KindCompactionEnded, session.KindCompactionUndone}, Reverse: true}
	for e, err := range log.Read(ctx, q) {
		if err != nil {
			return all, err
		}
		if e.Kind == session.KindCompactionUndone {
			p, err := session.Decode[session.CompactionUndone](e)
			if err != nil {
				return all, err
			}
			undone[p.Ordinal] = true
			continue
		}
		p, err := session.Decode[session.CompactionEnded](e)
		if err != nil {
			return all, err
		}
		all.Newest = append(all.Newest, contextCompaction{Seq: e.Seq, Time: e.Time, Relieved: p.Relieved, Undone: undone[p.Ordinal],
			CompactionResult: host.CompactionOf(p)})
		if len(all.Newest) == min(newestCompactions, all.Count) {
			break
		}
	}
	return all, nil
}
