package pluginhost

import (
	"regexp"
	"slices"
	"strings"
)

// passed are the host's variables that every plugin gets.
var passed = []string{"PATH", "LANG", "LC_ALL", "TZ"}

// secretWords mark a variable whose value is nobody else's business.
var secretWords = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "_PWD", "_PASS", "_AUTH", "COOKIE", "WEBHOOK"}

// personalToken is PAT as a word of its own, as in GITHUB_PAT.
var personalToken = regexp.MustCompile(`(?:^|_)PAT(?:_|$)`)

// agentSocket names the socket of the user's ssh agent, which git needs: a path, no
// secret.
const agentSocket = "SSH_AUTH_SOCK"

// secretValue is a value with a password in it: a URL's, a token as the user of a web
// address, a parameter of a URL or a connection string.
var secretValue = regexp.MustCompile(`(?i)://[^/\s:@]*:[^/\s@]+@|\bhttps?://[^/\s@]+@|[?&][\w-]*(?:pass(?:word|wd)?|pwd|token|secret|key|sig)=[^&\s]|(?:^|[;\s])(?:password|passwd|pwd)=[^;\s]`)

// environment is the exact environment of a plugin: nothing of the host's own
// but what is listed, a private home and a private place for temporary files,
// then what the spec adds. With UserEnv it is the user's environment less what
// looks like a secret. Keys of models never pass (M25).
func environment(host []string, spec Spec, secretEnv []string, home, tmp string) []string {
	var env []string
	for _, pair := range host {
		name, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || slices.Contains(secretEnv, name):
		case slices.Contains(passed, name), spec.UserEnv && !looksSecret(name, value):
			env = append(env, pair)
		}
	}
	if !spec.UserEnv {
		env = append(env, "HOME="+home, "TMPDIR="+tmp)
	}
	return append(env, spec.Env...)
}

func looksSecret(name, value string) bool {
	name = strings.ToUpper(name)
	if name == agentSocket {
		return false
	}
	holds := func(word string) bool { return strings.Contains(name, word) }
	return slices.ContainsFunc(secretWords, holds) || personalToken.MatchString(name) || secretValue.MatchString(value)
}
