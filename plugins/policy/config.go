package policy

import (
	"encoding/json"
	"fmt"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// Say is what the policy says to a kind of call where no rule speaks.
type Say string

const (
	SayAsk   Say = "ask"
	SayAllow Say = "allow"
	SayDeny  Say = "deny"
)

// Config is the plugin's config (T16, T17). Deny beats ask beats allow, wherever
// it is written; no rule widens Files.
type Config struct {
	Never       bool // nobody is asked: what needs an approval is refused
	Files       session.FilePolicy
	Network     Say
	Destructive Say
	Allow       []Rule
	Ask         []Rule
	Deny        []Rule
	Writable    []string // absolute
	home        string
}

// ParseConfig reads a config that fits the schema. Errors name the key.
func ParseConfig(raw json.RawMessage) (Config, error) {
	in := struct {
		Approval    string             `json:"approval"`
		Files       session.FilePolicy `json:"files"`
		Network     Say                `json:"network"`
		Destructive Say                `json:"destructive"`
		Allow       []string           `json:"allow"`
		Ask         []string           `json:"ask"`
		Deny        []string           `json:"deny"`
		Writable    []string           `json:"writable"`
	}{Approval: "ask", Files: session.FilesWorkspaceWrite, Network: SayAsk, Destructive: SayAsk}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Config{}, fmt.Errorf("read the config of plugin %q: %w", Name, err)
	}
	for _, choice := range []struct{ key, value, words string }{
		{"approval", in.Approval, "ask never"}, {"files", string(in.Files), "workspace-write read-only full"},
		{"network", string(in.Network), "ask allow deny"}, {"destructive", string(in.Destructive), "ask allow deny"},
	} {
		if words := strings.Fields(choice.words); !contains(words, choice.value) {
			return Config{}, fmt.Errorf("config of plugin %q: %s is %q; write %s", Name, choice.key, choice.value, strings.Join(words, ", "))
		}
	}
	c := Config{Never: in.Approval == "never", Files: in.Files, Network: in.Network, Destructive: in.Destructive, home: userHome()}
	for _, list := range []struct {
		key   string
		texts []string
		to    *[]Rule
	}{{"allow", in.Allow, &c.Allow}, {"ask", in.Ask, &c.Ask}, {"deny", in.Deny, &c.Deny}} {
		for i, text := range list.texts {
			rule, err := parseRule(text, c.home)
			if err != nil {
				return Config{}, fmt.Errorf("config of plugin %q: %s[%d]: %w", Name, list.key, i, err)
			}
			*list.to = append(*list.to, rule)
		}
	}
	for i, dir := range in.Writable {
		path, err := absolute(dir, c.home)
		if err != nil {
			return Config{}, fmt.Errorf("config of plugin %q: writable[%d]: %w", Name, i, err)
		}
		c.Writable = append(c.Writable, path)
	}
	return c, nil
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// absolute expands ~ of a directory and insists that it is absolute then.
func absolute(dir, home string) (string, error) {
	rest, tilde := strings.CutPrefix(dir, "~")
	switch {
	case tilde && (rest == "" || rest[0] == '/') && home == "":
		return "", fmt.Errorf("%q begins with ~, and the home directory of the user is not known; write an absolute path", dir)
	case tilde && (rest == "" || rest[0] == '/'):
		dir = filepath.Join(home, rest)
	case !filepath.IsAbs(dir), strings.IndexByte(dir, 0) >= 0:
		return "", fmt.Errorf("%q is not an absolute directory; write one that begins with / or ~/", dir)
	}
	if dir = filepath.Clean(dir); dir == "/" {
		return "", fmt.Errorf("\"/\" would make every file writable; write files = \"full\" if that is meant")
	}
	return dir, nil
}

// userHome is the user's home by the system's records: the process has a private
// one in its environment.
func userHome() string {
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}
