package confine

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// What the model is to do after a denial (T17).
const (
	// NextStop is where no wider policy can be had by repeating the call.
	NextStop = "Do not try another way. Stop, and say what you would have done and why the task needs it."
	// nextWithout is where nothing else would help.
	nextWithout = "Do not try another way. Go on without it, and say what is missing."
)

// NextRepeat names the policy to ask for. Whether anybody can be asked is not known here.
func NextRepeat(policy session.FilePolicy) string {
	return fmt.Sprintf("Do not try another way. If the task cannot be done otherwise and approvals are possible here, repeat exactly this command once with file_policy %q and a justification; else go on without it and say what is missing.", policy)
}

// Wider is the narrowest policy that allows more than the bounds do, "" where files
// are not bound.
func (b Bounds) Wider() session.FilePolicy {
	switch b.Files {
	case session.FilesFull:
		return ""
	case session.FilesReadOnly:
		return session.FilesWorkspaceWrite
	}
	return session.FilesFull
}

var (
	refusal = regexp.MustCompile(`(?i)permission denied|read-only file system|invalid cross-device link|\b(?:EACCES|EROFS|EXDEV)\b`)
	// unbound is what fails for other reasons: every policy lets everything be read, and
	// other machines refuse for themselves.
	unbound = regexp.MustCompile(`(?i)^(?:find: [^c]|(?:grep|rg|ls|du|cat|head|tail|stat|tree): )|cannot (?:open directory|access)\b|permission denied(?: \(|, please)`)
	// socket is a refusal that is about a connection.
	socket = regexp.MustCompile(`(?i)\bsock(?:et|type): |\bsocket\(|/dev/(?:tcp|udp)/|\b(?:connect|listen|bind) EACCES|\bconnect(?:ing)? to\b|\b(?:dial|listen) (?:tcp|udp|unix)|\bbind(?: to|: )|\b(?:creat|open|mak)\w* [^/]*socket\b`)
	// unnamed is how Python tells of a refusal that is not about a file.
	unnamed = regexp.MustCompile(`^PermissionError: \[Errno 13\] Permission denied\s*$`)
	// unreached is what programs make of it that do not name the refusal.
	unreached = regexp.MustCompile(`(?i)could(?:n't| not) resolve|unable to resolve|name resolution|name or service not known|getaddrinfo|failed to connect|could(?:n't| not) connect|\bEAI_AGAIN\b`)
)

// Hit is a bound that stood in the way.
type Hit int

const (
	HitNothing Hit = iota
	HitFiles
	HitSockets // connections, or helpers reached through a socket
)

// Hit tells which bound stood in the way of a command, from what it printed: the one
// that the last refusal speaks of.
func (b Bounds) Hit(printed string) Hit {
	hit := HitNothing
	for line := range strings.Lines(printed) {
		switch line = strings.TrimSpace(line); {
		case b.Offline && unreached.MatchString(line):
			hit = HitSockets
		case !refusal.MatchString(line) || unbound.MatchString(line):
		case socket.MatchString(line) || unnamed.MatchString(line):
			hit = HitSockets
		case b.Files != session.FilesFull:
			hit = HitFiles
		}
	}
	if hit == HitSockets && b.Free() {
		return HitNothing
	}
	return hit
}

// Denied is what the model reads where the file policy stood in the way, with what it is
// to do next; "" where files are not bound.
func (b Bounds) Denied(next string) string {
	if b.Files == session.FilesFull {
		return ""
	}
	return fmt.Sprintf("[file policy: access denied under %s]\n%s", b.Files, next)
}

// DeniedSocket is what the model reads where it was a connection. No file policy is
// named that would help: it is not what a person is to be asked for.
func (b Bounds) DeniedSocket() string {
	if b.Offline {
		return "[network policy: connections are not allowed]\n" + nextWithout
	}
	return fmt.Sprintf("[file policy: sockets to other programs may be denied under %s]\n%s", b.Files, nextWithout)
}
