package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/internal/confine"
	"github.com/tureen-host/tureen/plugins/policy/shellcmd"
)

// maxCommand is what the system takes as one argument.
const maxCommand = 128 << 10

// shell judges a command line, command by command.
func (p *Provider) shell(f *finding, at place, args arguments) {
	f.subject, f.detail = "run this command", args.Command
	if len(args.Command) > maxCommand {
		f.deny = fmt.Sprintf("the command has %d bytes, more than anybody can check or the system takes. Put the text into a file with write, and run that.", len(args.Command))
		return
	}
	dir := at.directory
	if args.Workdir != "" {
		if dir = args.Workdir; !filepath.IsAbs(dir) {
			dir = filepath.Join(at.directory, dir)
		}
		f.detail += "\n(in " + dir + ")"
	}
	reach := p.reach(at)
	line := shellcmd.Analyze(args.Command, shellcmd.Options{Dir: dir, Home: p.config.home, Self: p.self,
		Inside: func(path string) bool { return inside(reach, path) }, Resolve: resolve, Exists: exists})
	// What is allowed for the session is this line in this directory: the same
	// command does something else with other input, variables or neighbours.
	whole := strings.Join([]string{toolShell, dir, args.Command}, "\x00")
	for _, c := range line.Commands {
		if p.command(f, c, whole); f.deny != "" {
			return
		}
	}
	p.redirections(f, line, reach, whole)
	p.escalation(f, args, whole)
}

// inside tells whether a program may change what stands at a path: it is the
// directory that counts, not what a symlink there leads to.
func inside(reach confine.Bounds, path string) bool {
	_, ok := reach.Root(filepath.Join(resolve(filepath.Dir(path)), filepath.Base(path)))
	return ok
}

// command judges one simple command: deny beats ask beats allow beats what is
// said where no rule speaks.
func (p *Provider) command(f *finding, c shellcmd.Command, key string) {
	known := func(r Rule) bool { return anyForm(c, r.command) }
	may := func(r Rule) bool { return anyForm(c, r.maybe) }
	if rule, ok := firstRule(p.config.Deny, toolShell, known); ok {
		f.deny = textRule(rule.Written, c.Text())
		return
	}
	for _, k := range []struct {
		kind shellcmd.Kind
		say  Say
	}{{shellcmd.Network, p.config.Network}, {shellcmd.Destructive, p.config.Destructive}} {
		if k.say == SayDeny && c.Has(k.kind) {
			f.deny = textDenied(string(k.kind), about(c, k.kind))
			return
		}
	}
	if rule, ok := firstRule(append(p.config.Deny[:len(p.config.Deny):len(p.config.Deny)], p.config.Ask...), toolShell, may); ok {
		f.ask(fmt.Sprintf("%s: the rule %q may be about it", brief(c.Text()), rule.Written), key)
		return
	}
	_, everything := wholeRule(p.config.Allow, toolShell)
	_, rule := firstRule(p.config.Allow, toolShell, func(r Rule) bool { return len(c.Argv) > 0 && r.command(c.Text()) })
	for _, n := range c.Concerns {
		switch {
		case n.Kind == shellcmd.Network && (p.config.Network == SayAllow || rule || everything),
			n.Kind == shellcmd.Destructive && (p.config.Destructive == SayAllow || rule || everything),
			n.Kind == shellcmd.Unclear && everything:
		default:
			f.ask(brief(c.Text())+": "+n.Why, key)
		}
	}
}

func anyForm(c shellcmd.Command, fits func(string) bool) bool {
	for _, form := range c.Forms() {
		if fits(form) {
			return true
		}
	}
	return false
}

// about is the first concern of a kind, with the command.
func about(c shellcmd.Command, kind shellcmd.Kind) string {
	for _, n := range c.Concerns {
		if n.Kind == kind {
			return brief(c.Text()) + ": " + n.Why
		}
	}
	return brief(c.Text())
}

// exists tells whether there is something at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// redirections asks about files that the line writes, where the system does not
// keep commands to the file policy.
func (p *Provider) redirections(f *finding, line shellcmd.Line, reach confine.Bounds, key string) {
	if p.enforced || p.config.Files == session.FilesFull {
		return
	}
	for _, path := range append(line.Writes[:len(line.Writes):len(line.Writes)], line.Touches...) {
		known := filepath.IsAbs(path) && !strings.Contains(path, shellcmd.Unknown)
		if p.config.Files == session.FilesReadOnly || !known || !inside(reach, resolve(path)) {
			f.ask(fmt.Sprintf("it writes %s, and the file policy is %s", brief(path), p.config.Files), key)
		}
	}
}

// escalation asks about a wider file policy for one call (T17). One that is not
// wider than the standing one is not looked at.
func (p *Provider) escalation(f *finding, args arguments, key string) {
	wanted := session.FilePolicy(args.FilePolicy)
	if wanted == "" || breadth(wanted) <= breadth(p.config.Files) {
		return
	}
	f.ask(fmt.Sprintf("it asks for the file policy %s instead of %s, for this call", wanted, p.config.Files), key+"\x00"+string(wanted))
	if args.Justification != "" {
		f.detail += "\n\nReason given by the agent: " + args.Justification
	}
	if f.bound.Files = wanted; wanted == session.FilesFull {
		f.bound.Writable = nil
	}
}

// breadth orders file policies; one that is not known is no wider than any.
func breadth(policy session.FilePolicy) int {
	switch policy {
	case session.FilesReadOnly:
		return 1
	case session.FilesWorkspaceWrite:
		return 2
	case session.FilesFull:
		return 3
	}
	return 0
}
