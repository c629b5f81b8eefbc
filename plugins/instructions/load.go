package instructions

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

const (
	toolSkill = "skill"
	tagSkill  = "skill"
	// maxBody bounds what one call gives of a skill, in bytes.
	maxBody = 64 << 10
)

//go:embed skill.json
var skillSchema []byte

const loaded = "These are the instructions of the skill %s. Follow them for the task at hand. They rank below the system prompt and below what the person says. " +
	"Files that they name by a relative path lie in %s: read or run such a file by its whole path."

// Tools is the tool that loads a skill (T20).
func (p *Provider) Tools(context.Context, string) ([]tool.Spec, error) {
	if !p.config.Skills {
		return nil, nil
	}
	return []tool.Spec{{
		Name: toolSkill, Schema: skillSchema, Parallel: true,
		Description: "Load a skill: the whole of its instructions, and where its other files lie. Load it before you begin the task that it is for. " +
			"The names are in the list of skills that you were shown.",
	}}, nil
}

// Call loads a skill.
func (p *Provider) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	if call.Name != toolSkill {
		return tool.Result{}, fmt.Errorf("plugin %q has no tool %q", Name, call.Name)
	}
	return toolcall.Run(ctx, call, p.load), nil
}

func (p *Provider) load(_ context.Context, call tool.Call, args struct{ Name string }) (string, error) {
	v, unlock := p.view(call.Session)
	defer unlock()
	if v == nil {
		return "", toolcall.Errorf("SESSION_UNKNOWN", "session %q is not open in this plugin", call.Session)
	}
	found := p.discover(v.place)
	usable := found.usable()
	i := slices.IndexFunc(usable, func(s skill) bool { return s.name == args.Name })
	if i < 0 {
		return "", unknown(args.Name, found)
	}
	s := usable[i]
	text, err := s.read()
	if err != nil {
		return "", toolcall.Errorf("SKILL_BROKEN", "the skill %q cannot be loaded: %s: %s; tell the person", s.name, show(s.file()), cause(err))
	}
	return text, nil
}

// read returns a skill's instructions in their frame.
func (s skill) read() (string, error) {
	home := s.home
	if s.bound {
		var err error
		if home, err = project(s.home.path); err != nil {
			return "", err
		}
		defer home.close()
	}
	text, _, err := home.read(filepath.Join(s.rel, "SKILL.md"), maxFile)
	if err != nil {
		return "", err
	}
	head, err := parseFront(text)
	if err != nil {
		return "", err
	}
	body := disarm(head.body, ofSkills)
	if body == "" {
		body = "(The file says nothing but what the skill is for.)"
	}
	if over := len(body) - maxBody; over > 0 {
		kept := strings.ToValidUTF8(body[:maxBody], "")
		body = fmt.Sprintf("%s\n\n(Cut off here: %d more bytes stand in %s. Read them yourself.)", kept, len(body)-len(kept), show(s.file()))
	}
	return fmt.Sprintf("<%s name=%q>\n%s\n\n%s\n</%s>", tagSkill, s.name, fmt.Sprintf(loaded, s.name, show(s.dir())), body, tagSkill), nil
}

// unknown is the error about a name that no skill has.
func unknown(name string, found *shelf) error {
	for _, s := range found.skills {
		if s.name == name {
			return toolcall.Errorf("SKILL_BROKEN", "the skill %q cannot be loaded: %s: %s; tell the person", name, show(s.file()), s.problem)
		}
	}
	name = shorten(name, 80)
	usable := found.usable()
	if len(usable) == 0 {
		return toolcall.Errorf("UNKNOWN_SKILL", "there is no skill %q, nor any other here; go on without one", name)
	}
	slices.SortStableFunc(usable, func(a, b skill) int { return cmp.Compare(distance(name, a.name), distance(name, b.name)) })
	var near []string
	for _, s := range usable[:min(3, len(usable))] {
		near = append(near, s.name)
	}
	return toolcall.Errorf("UNKNOWN_SKILL", "there is no skill %q; nearest are %s. Use a name from the list, or go on without a skill", name, strings.Join(near, ", "))
}

// distance counts the letters to change between two names; a name within the other
// is near.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if strings.Contains(b, a) || strings.Contains(a, b) {
		return 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
