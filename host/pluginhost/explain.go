package pluginhost

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tureen-host/tureen/plugins/sdk"
)

var (
	errNoHandshake    = errors.New("no handshake line in time")
	errForeignAddress = errors.New("it listens elsewhere than in PLUGIN_UNIX_SOCKET_DIR")
)

// program finds what Argv[0] means: a path, or a name in the plugin's own PATH.
func program(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("program %q is not in PATH: %w", name, fs.ErrNotExist)
}

// explain makes the error of a process that did not become READY.
func (g *generation) explain(err error) error {
	e := &StartError{Plugin: g.inst.spec.label(), Problem: err.Error(), Err: err}
	if g.proc == nil {
		return e
	}
	if g.proc.out.first() == "" && !errors.Is(err, errNoHandshake) {
		g.ends(context.Background(), g.inst.deadlines().Exit) // it is ending, or never ran
	}
	e.Problem, e.Hint = g.problem(err)
	if !errors.As(err, new(*ConfigError)) {
		e.Stderr = g.proc.err.last()
	}
	e.Hint = cmp.Or(missingModule(e.Stderr), e.Hint)
	return e
}

// problem tells what happened, by what the process did, and what to do about it.
func (g *generation) problem(err error) (problem, hint string) {
	first := g.proc.out.first()
	path := g.proc.cmd.Path
	switch {
	case errors.As(err, new(*ConfigError)):
		return err.Error(), "mend the profile; plugin inspect shows the schema"
	case errors.Is(err, context.Canceled):
		return "the start was cancelled", ""
	case g.proc.cmd.Process == nil && errors.Is(err, fs.ErrNotExist):
		return g.missing(path, err)
	case g.proc.cmd.Process == nil && errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%s may not be executed", path), "make it executable with chmod +x"
	case g.proc.cmd.Process == nil:
		return err.Error(), "a script needs a #! line, a binary the right architecture"
	case g.conn != nil:
		return g.afterHandshake(err)
	case first != "" && !looksLikeHandshake(first):
		return fmt.Sprintf("its first line on stdout is %q, not the handshake", cutTo(first, 120)), "write banners and logs to stderr; stdout is for the handshake line alone"
	case first != "":
		return handshakeProblem(first, err)
	case errors.Is(err, errNoHandshake):
		return fmt.Sprintf("no handshake line on stdout within %s", g.inst.deadlines().Handshake), "print it, and flush, as soon as the server listens"
	case g.gone():
		return fmt.Sprintf("it ended before the handshake (%s)", g.proc.outcome()), "run it by hand to see why; it should ask for the cookie " + sdk.CookieKey
	default:
		return err.Error(), "it closed stdout before the handshake line"
	}
}

func (g *generation) missing(path string, err error) (problem, hint string) {
	if _, statErr := os.Stat(path); statErr != nil {
		return fmt.Sprintf("there is no file %s", path), "check the path, and from where it is relative"
	}
	if interpreter := shebang(path); interpreter != "" {
		return fmt.Sprintf("its interpreter %s is missing", interpreter), "install it, or change the #! line of " + path
	}
	return err.Error(), "it may be linked against a library loader that is not here"
}

func (g *generation) afterHandshake(err error) (problem, hint string) {
	if g.gone() {
		return fmt.Sprintf("it ended while it was set up (%s)", g.ending()), ""
	}
	return err.Error(), ""
}

func handshakeProblem(line string, err error) (problem, hint string) {
	parts := strings.Split(line, "|")
	switch {
	case parts[1] != fmt.Sprint(sdk.ProtocolVersion):
		return fmt.Sprintf("it speaks protocol version %s, this host speaks %d", parts[1], sdk.ProtocolVersion), "use a release of the plugin that was made for this host"
	case errors.Is(err, errForeignAddress):
		return fmt.Sprintf("it listens on %s %s", parts[2], parts[3]), "listen on a Unix socket in PLUGIN_UNIX_SOCKET_DIR"
	case len(parts) < 5 || parts[4] != "grpc":
		return fmt.Sprintf("its handshake %q does not name grpc", cutTo(line, 120)), "end the line with |grpc"
	}
	return err.Error(), "the handshake was " + cutTo(line, 120)
}

var handshakeShape = regexp.MustCompile(`^\d+\|\d+\|[a-z]+\|[^|]+(\|.*)?$`)

func looksLikeHandshake(line string) bool { return handshakeShape.MatchString(line) }

// shebang returns the interpreter that a script names.
func shebang(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if fields := bytes.Fields(rest); ok && len(fields) > 0 {
		return string(fields[0])
	}
	return ""
}

var noModule = regexp.MustCompile(`No module named '?([A-Za-z0-9_.]+)'?`)

// missingModule names the package that a Python plugin lacks.
func missingModule(stderr []string) string {
	for _, line := range stderr {
		m := noModule.FindStringSubmatch(line)
		switch {
		case m == nil:
		case strings.HasPrefix(m[1], "grpc"):
			return "install python3-grpcio (Debian) or grpcio (pip)"
		case strings.HasPrefix(m[1], "google"):
			return "install python3-protobuf (Debian) or protobuf (pip)"
		default:
			return "install the Python module " + m[1]
		}
	}
	return ""
}

func cutTo(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:n] + "…"
}

func isExited(err error) bool { return errors.Is(err, sdk.ErrExited) }
