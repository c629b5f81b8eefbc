package policy

import (
	"context"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
)

// Sections has nothing to say.
func (p *Provider) Sections(context.Context, string) ([]prompt.Section, error) { return nil, nil }

// Contexts tell the model what it may change and who is asked (SP4).
func (p *Provider) Contexts(_ context.Context, id string) ([]prompt.Context, error) {
	at, ok := p.place(id)
	if !ok {
		return nil, nil
	}
	return []prompt.Context{
		{ID: "policy:files", Order: prompt.OrderWorkspace + 50, Text: p.filesText(at)},
		{ID: "policy:approval", Order: prompt.OrderWorkspace + 51, Text: p.approvalText(at)},
	}, nil
}

func (p *Provider) filesText(at place) string {
	var text string
	switch p.config.Files {
	case session.FilesFull:
		return "File policy: full. Calls may change whatever the user may change."
	case session.FilesReadOnly:
		text = "File policy: read-only. Calls may read every file and change none, in the workspace or elsewhere."
	default:
		text = fmt.Sprintf("File policy: workspace-write. Calls may change files in the workspace %q and in the directories for temporary files", at.workspace)
		for _, dir := range p.config.Writable {
			text += fmt.Sprintf(", and in %q", dir)
		}
		text += "; all others they may only read."
	}
	if p.enforced {
		text += " The operating system holds shell commands to it."
	} else {
		text += " On this machine the operating system does not hold shell commands to it; the tools do what they can, and you are trusted to keep to it."
	}
	if p.never(at) {
		return text + " Do not hold back from a change that the task needs: try it once. Where it is denied, nobody can widen the policy; say in your answer what is missing."
	}
	return text + " Do not hold back from a change that the task needs: try it the usual way. Where a shell command is denied, repeat that command once with file_policy and a justification, and the person is asked; where the person says no, stop and explain."
}

func (p *Provider) approvalText(at place) string {
	var kinds []string
	for _, k := range []struct {
		what string
		say  Say
	}{{"commands and tools that visibly reach other machines (a program may connect unseen)", p.config.Network}, {"what destroys something", p.config.Destructive}} {
		if k.say == SayAsk {
			kinds = append(kinds, k.what)
		}
	}
	kinds = append(kinds, "what acts as another user", "a command line that does not show what it runs")
	what := strings.Join(kinds, ", ")
	text := fmt.Sprintf("Approval policy: ask. The person is asked before %s; the call waits for that. Write commands plainly, so that it can be seen what they do.", what)
	if p.never(at) {
		text = fmt.Sprintf("Approval policy: never. Nobody is asked in this session; what would need an approval is refused: %s, and a wider file policy. Do not ask for one with file_policy.", what)
	}
	if p.config.Network == SayDeny {
		text += " Connections to other machines are forbidden" + p.offlineText() + "."
	}
	if p.config.Destructive == SayDeny {
		text += " Commands that destroy something are forbidden."
	}
	return text
}

// offlineText says who sees to it that nothing connects.
func (p *Provider) offlineText() string {
	if p.enforced {
		return ", and the operating system cuts shell commands off from them"
	}
	return "; on this machine the operating system does not cut shell commands off, so keep to it"
}
