package instructions

import (
	"context"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/command"
)

const (
	tagSkills   = "skills"
	aboutSkills = "A skill is a file of instructions for one kind of task. These can be loaded here:"
	howToSkills = "When the person names one of them, or one fits the task, load it with the tool skill before you do anything else for the task, and follow all of it. " +
		"Where several fit, load each. A line above says what a skill is for, not what is in it: never act on a guess at its content."
)

// catalogue tells the model which skills there are (SP7), "" where there is none. At
// most maxListed are listed, and as many as limit bytes hold.
func catalogue(skills []skill, limit int) string {
	if len(skills) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<%s>\n%s\n\n", tagSkills, aboutSkills)
	listed := 0
	for _, s := range skills[:min(len(skills), maxListed)] {
		line := fmt.Sprintf("- %s: %s\n", s.name, disarm(shorten(s.description, maxDescription), ofSkills))
		if b.Len()+len(line)+len(howToSkills)+100 > limit {
			break
		}
		b.WriteString(line)
		listed++
	}
	if over := len(skills) - listed; over > 0 {
		fmt.Fprintf(&b, "\n%d more are not listed; the person can name one of them.\n", over)
	}
	fmt.Fprintf(&b, "\n%s\n</%s>", howToSkills, tagSkills)
	return b.String()
}

// Commands are the slash commands.
func (p *Provider) Commands(context.Context, string) ([]command.Command, error) {
	if !p.config.Skills {
		return nil, nil
	}
	return []command.Command{{Name: "skills", Description: "list the skills that can be loaded, where they are, and what is wrong with others"}}, nil
}

// Run lists the skills for the person.
func (p *Provider) Run(_ context.Context, session, name, _ string) (string, error) {
	if name != "skills" {
		return "", fmt.Errorf("plugin %q has no command /%s", Name, name)
	}
	v, unlock := p.view(session)
	defer unlock()
	if v == nil {
		return "", fmt.Errorf("session %q is not open in plugin %q", session, Name)
	}
	found := p.discover(v.place)
	var b strings.Builder
	usable := found.usable()
	for _, s := range usable {
		fmt.Fprintf(&b, "%s: %s\n  %s\n", s.name, shorten(s.description, 100), s.file())
	}
	if len(usable) == 0 {
		fmt.Fprintf(&b, "No skill can be loaded here. Put one into %s.\n", v.place.root+"/.agents/skills/NAME/SKILL.md")
	}
	if len(found.notes) > 0 {
		b.WriteString("\nNot usable:\n")
		for _, n := range found.notes[:min(len(found.notes), maxListed)] {
			fmt.Fprintf(&b, "  %s\n", n)
		}
	}
	return strings.TrimSpace(b.String()), nil
}
