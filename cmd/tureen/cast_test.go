package main_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

const familyProfile = `schema  = 1
extends = "base"
[model]
name              = "scripted"
context_window    = 32000
max_output_tokens = 2000
[compaction]
strategy = "none"
[[plugins]]
use = "files"
[[plugins]]
use = "shell"
[[plugins]]
use = "subagents"
config = { %s }
%s`

// cast is a model that plays several agents: which one a request comes from stands
// in its task as "You are NAME.". What each says depends on the request alone.
type cast struct {
	*sandbox
	roles map[string]func(scene) scripted.Reply

	mu     sync.Mutex
	scenes []scene
}

// scene is one request.
type scene struct {
	role string
	n    int // answers that stand in the request
	req  llm.Request
}

var roleName = regexp.MustCompile(`You are ([a-z0-9-]+)\.`)

// Reply implements scripted.Agent.
func (c *cast) Reply(req llm.Request) scripted.Reply {
	s := scene{req: req}
	for _, m := range req.Messages {
		if m.Role == llm.RoleAssistant {
			s.n++
		}
		if name := roleName.FindStringSubmatch(m.Text()); m.Role == llm.RoleUser && name != nil && s.role == "" {
			s.role = name[1]
		}
	}
	c.mu.Lock()
	c.scenes = append(c.scenes, s)
	c.mu.Unlock()
	if play := c.roles[s.role]; play != nil {
		return play(s)
	}
	return scripted.Reply{Error: &scripted.Failure{Status: 400, Message: fmt.Sprintf("nobody plays %q", s.role), Type: "invalid_request_error", Code: "no_role"}}
}

// said is the text of the last message.
func (s scene) said() string { return s.req.Messages[len(s.req.Messages)-1].Text() }

// all is every text of the request.
func (s scene) all() string {
	var b strings.Builder
	for _, m := range s.req.Messages {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}

// of are the requests of a role.
func (c *cast) of(role string) []scene {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.scenes), func(s scene) bool { return s.role != role })
}

// newCast serves roles on loopback. The texts are the config of the plugin and more
// of the profile.
func newCast(t *testing.T, config, more string, roles map[string]func(scene) scripted.Reply) *cast {
	t.Helper()
	c := &cast{sandbox: user(t), roles: roles}
	write(t, c.path("work", "family.toml"), fmt.Sprintf(familyProfile, config, more))
	server, err := scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: 32000, MaxOutputTokens: 2000, Agent: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	c.env = append(c.env, "OPENAI_BASE_URL="+server.BaseURL(), "OPENAI_API_KEY=any")
	return c
}

func calling(calls ...any) scripted.Reply {
	r := batch(0, calls...)
	r.Text = ""
	for i := range r.Calls {
		r.Calls[i].ID = "" // the server makes one
	}
	return r
}

func spawning(role, label string) object {
	return object{"task": "You are " + role + ".", "label": label}
}

// perform runs a task and returns the result.
func (c *cast) perform(t *testing.T, args ...string) (host.Result, outcome) {
	t.Helper()
	o := c.run(t, append(args, "-P", "family.toml", "-o", "json")...)
	var r host.Result
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatalf("%v in %q; %s", err, o.stdout, o.stderr)
	}
	return r, o
}

// sessions are all sessions by parent, the person's own under "".
func (c *cast) sessions(t *testing.T) map[string][]session.Summary {
	t.Helper()
	var list []session.Summary
	if err := json.Unmarshal([]byte(c.ok(t, "session", "list", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	by := map[string][]session.Summary{}
	for _, s := range list {
		by[s.Parent] = append(by[s.Parent], s)
	}
	return by
}

// settlements are those in a session's log, in order.
func (c *cast) settlements(t *testing.T, id string) []session.ChildSettled {
	t.Helper()
	events, violations, err := c.events(id)
	if err != nil || len(violations) > 0 {
		t.Fatalf("%v, %v", err, violations)
	}
	var list []session.ChildSettled
	for _, e := range events {
		if p, err := session.Decode[session.ChildSettled](e); err == nil && e.Kind == session.KindChildSettled {
			list = append(list, p)
		}
	}
	return list
}
