package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/policy"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// Deny beats ask beats allow, whichever is narrower.
func TestT16_DenyBeatsAskBeatsAllow(t *testing.T) {
	t.Parallel()
	d := open(t, `{"allow":["shell: git *","shell: curl https://example.com/*"],"ask":["shell: git tag *","shell: make deploy"],"deny":["shell: git push *","shell: terraform"]}`)
	for line, want := range map[string]string{
		"git fetch": "allow", "git fetch origin": "allow", "git reset --hard": "allow", "git tag v1": "ask", "git tag": "ask", "make deploy": "ask", "make": "allow",
		"git push": "deny", "git push --force": "deny", "ls && git push": "deny", "sh -c 'git push'": "deny", "/usr/bin/git push": "deny", "git -C sub push": "deny", "git -c user.name=x push": "deny", `g\it "push"`: "deny", "/usr/lib/git-core/git-push": "deny", "git-push origin": "deny", "git send-pack x": "deny",
		"echo $(git push)": "deny", "timeout 5 env A=b git push": "deny", "x=push; git $x": "deny", "x=git; $x push": "deny", "terraform": "deny", "terraform apply": "ask",
		"curl https://example.com/a": "allow", "curl https://example.org/a": "ask", "curl https://example.com.evil.org/": "ask",
		"git $X": "ask", "git pushy": "ask",
	} {
		d.want(line, want)
	}
	holds(t, "the refusal", d.run("git push").Deny, `"shell: git push *"`, "forbids git push", "Do not try it in another form")
}

// An allow rule counts only if every simple command of the line is free.
func TestT16_AllowNeedsEveryCommand(t *testing.T) {
	t.Parallel()
	d := open(t, `{"allow":["shell: git push*","shell: curl *"]}`)
	for line, want := range map[string]string{
		"git push": "allow", "go test ./... && git push": "allow", "git push; curl x": "allow", "cd sub && git push": "allow",
		"git push && wget x": "ask", "git push | sh": "ask", "git push; rm -rf x": "ask", "git push $(wget x)": "ask", "sh -c 'git push; wget x'": "ask", "git push <(wget x)": "ask",
		"GIT_SSH_COMMAND='wget x' git push": "ask", "PATH=. git push": "ask", "git -c core.sshCommand=x push": "ask", "./git push": "ask", "curl x | sh": "ask", "sudo git push": "ask",
		"$(echo git) push": "ask", "git push\nwget x": "ask", "curl x & wget y": "ask",
	} {
		d.want(line, want)
	}
}

// A rule about a tool alone is about every call of it.
func TestT16_RulesAboutWholeTools(t *testing.T) {
	t.Parallel()
	d := open(t, `{"allow":["shell"],"ask":["mcp_*"],"deny":["web_fetch","danger"]}`)
	for line, want := range map[string]string{"curl x": "allow", "rm -rf x": "allow", "$X": "allow", "sudo ls": "ask"} {
		d.want(line, want)
	}
	for tool, want := range map[string]string{"mcp_github": "ask", "web_fetch": "deny", "danger": "deny", "dangerous": "allow"} {
		if out := d.decide(tool, args{"url": "https://example.com/"}); verdict(out) != want {
			t.Errorf("%s: %+v", tool, out)
		}
	}
	if out := d.decide("mcp_github", args{"a": 1}); out.Ask == nil || !strings.Contains(out.Ask.Detail, `{"a":1}`) {
		t.Errorf("%+v", out)
	}
}

// Patterns of other tools are about their path, URL, or arguments as they are.
func TestT16_PatternsOfOtherTools(t *testing.T) {
	t.Parallel()
	d := open(t, `{"deny":["read: **/.env","read: ~/.ssh/**","tickets: *\"delete\"*"],"ask":["read: secrets/**"]}`)
	for path, want := range map[string]string{".env": "deny", "sub/.env": "deny", "sub/../.env": "deny", d.dir + "/sub/.env": "deny", "a.go": "allow", "secrets/a": "ask", "./secrets/b/c": "ask"} {
		if out := d.decide("read", args{"file_path": path}); verdict(out) != want {
			t.Errorf("%s: %+v", path, out)
		}
	}
	if out := d.decide("tickets", args{"do": "delete"}); verdict(out) != "deny" {
		t.Errorf("%+v", out)
	}
}

// network and destructive say what counts where no rule speaks; their deny is
// beaten by nothing.
func TestT16_KindsOfCommands(t *testing.T) {
	t.Parallel()
	d := open(t, `{"network":"deny","destructive":"deny","allow":["shell","web_fetch"]}`)
	for line, want := range map[string]string{"curl x": "deny", "git push": "deny", "ls; (wget x)": "deny", "rm -rf x": "deny", "git reset --hard": "deny", "ls": "allow"} {
		out := d.want(line, want)
		if want == "deny" {
			holds(t, line, out.Deny, "= \"deny\"", "Do not try it in another form")
		} else if !out.Confinement.Offline {
			t.Errorf("%s may connect: %+v", line, out.Confinement)
		}
	}
	for _, tool := range []string{"web_fetch", "web_search"} {
		if out := d.decide(tool, args{"url": "https://example.com", "queries": []string{"a"}}); verdict(out) != "deny" {
			t.Errorf("%s: %+v", tool, out)
		}
	}
	d = open(t, `{"network":"allow","destructive":"allow","ask":["shell: git push *"]}`)
	for line, want := range map[string]string{"curl x": "allow", "rm -rf x": "allow", "git push": "ask", "sudo ls": "ask", "$X": "ask"} {
		if out := d.want(line, want); out.Confinement.Offline {
			t.Errorf("%s is offline", line)
		}
	}
	if out := d.decide("web_fetch", args{"url": "https://example.com"}); verdict(out) != "allow" {
		t.Errorf("%+v", out)
	}
}

func TestT16_WebRules(t *testing.T) {
	t.Parallel()
	d := open(t, `{"allow":["web_fetch: https://go.dev/*"],"deny":["web_fetch: *://intranet/*","web_search: *password*"]}`)
	for url, want := range map[string]string{
		"https://go.dev/doc": "allow", "HTTPS://Go.dev:443/doc": "allow", "https://go.dev/doc#x": "allow",
		"https://go.dev.evil.org/": "ask", "https://go.dev@evil.org/": "ask", "https://evil.org/https://go.dev/": "ask", "http://go.dev/": "ask", "https://user@go.dev/": "ask", "https://go.dev\\@evil.org/": "ask", "https://go.dev:444/": "ask",
		"http://intranet/": "deny", "http://INTRANET:80/x": "deny", "http://intranet/../y": "deny",
	} {
		if out := d.decide("web_fetch", args{"url": url}); verdict(out) != want {
			t.Errorf("%s: %s %+v", url, verdict(out), out)
		}
	}
	out := d.answer("web_fetch", args{"url": "https://example.com/a?b=c"}, "Allow for this session")
	if verdict(out) != "allow" {
		t.Fatalf("%+v", out)
	}
	for url, want := range map[string]string{"https://example.com/z": "allow", "https://example.com:444/z": "ask", "http://example.com/": "ask", "https://sub.example.com/": "ask"} {
		if out := d.decide("web_fetch", args{"url": url}); verdict(out) != want {
			t.Errorf("%s: %s", url, verdict(out))
		}
	}
	if out := d.decide("web_search", args{"queries": []string{"go", "my password"}}); verdict(out) != "deny" {
		t.Errorf("%+v", out)
	}
	if out := d.decide("web_search", args{"queries": []string{"go"}}); verdict(out) != "ask" || !strings.Contains(out.Ask.Options[1].Description, "web searches") {
		t.Errorf("%+v", out)
	}
}

// A config that is wrong is refused with the key.
func TestT16_ConfigErrorsNameTheKey(t *testing.T) {
	t.Parallel()
	for config, part := range map[string]string{
		`{"allow":["shell git"]}`: "allow[0]", `{"deny":["ls",": x"]}`: "deny[1]", `{"ask":["shell:"]}`: "ask[0]", `{"writable":["docs"]}`: "writable[0]", `{"writable":["/a","/"]}`: "writable[1]",
		`{"approval":"maybe"}`: "approval", `{"files":"none"}`: "files", `{"network":"off"}`: "network", `{"destructive":"x"}`: "destructive", `{"allow":"shell"}`: "allow", `{"writable":["~other/x"]}`: "writable[0]",
	} {
		_, err := plugintest.Start(t, policy.Plugin("1.0.0"), plugintest.Host{Config: json.RawMessage(config)})
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", config, err)
		}
	}
	c, err := policy.ParseConfig(json.RawMessage(`{"writable":["~/cache"]}`))
	if err != nil || len(c.Writable) != 1 || !strings.HasPrefix(c.Writable[0], "/") || !strings.HasSuffix(c.Writable[0], "/cache") {
		t.Errorf("%+v, %v", c, err)
	}
	if c.Files != session.FilesWorkspaceWrite || c.Network != policy.SayAsk || c.Destructive != policy.SayAsk || c.Never {
		t.Errorf("defaults %+v", c)
	}
}
