package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/plugins/internal/confine"
	"github.com/tureen-host/tureen/plugins/policy"
)

func (d *desk) contexts() (files, approval string) {
	d.t.Helper()
	got, err := d.plugin.Prompt().Contexts(d.t.Context(), "s")
	if err != nil || len(got) != 2 || got[0].Own || got[1].Own || got[0].ID != "policy:files" || got[1].ID != "policy:approval" || got[0].Order >= got[1].Order {
		d.t.Fatalf("%+v, %v", got, err)
	}
	return got[0].Text, got[1].Text
}

// The model is told what binds it, and what to do on a denial.
func TestSP4_ContextsSayWhatBinds(t *testing.T) {
	t.Parallel()
	d := open(t, `{"writable":["BESIDE"]}`)
	files, approval := d.contexts()
	holds(t, "files", files, "File policy: workspace-write", d.dir, d.beside, "repeat that command once with file_policy")
	holds(t, "approval", approval, "Approval policy: ask", "visibly reach other machines", "may connect unseen", "destroys", "acts as another user")
	said := "The operating system holds shell commands to it"
	if _, enforced := confine.Enforced(); !enforced {
		said = "the operating system does not hold shell commands to it"
	}
	holds(t, "files", files, said)

	files, approval = open(t, `{"files":"read-only","approval":"never","network":"deny","destructive":"deny"}`).contexts()
	holds(t, "files", files, "File policy: read-only", "say in your answer what is missing")
	holds(t, "approval", approval, "Approval policy: never", "Do not ask for one with file_policy", "Connections to other machines are forbidden", "destroy something are forbidden")
	if strings.Contains(files, "the person is asked") {
		t.Error("read-only under never promises a question")
	}

	files, approval = open(t, `{"files":"full","network":"allow"}`).contexts()
	holds(t, "files", files, "File policy: full")
	if strings.Contains(approval, "other machines") {
		t.Errorf("what is allowed is said to be asked about: %s", approval)
	}
}

// Where the system does not enforce the policy, the text says so, and files that
// a line plainly writes are asked about.
func TestT17_WithoutTheSystemRedirectionsAreAskedAbout(t *testing.T) {
	t.Parallel()
	workspace := open(t, `{}`).dir
	decide := func(files, line string) string {
		config, err := policy.ParseConfig(json.RawMessage(`{"files":"` + files + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		p := policy.Unenforced(config)
		if err := p.Open(t.Context(), compaction.Session{ID: "s", Workspace: workspace}); err != nil {
			t.Fatal(err)
		}
		contexts, err := p.Contexts(t.Context(), "s")
		if err != nil || files != "full" && !strings.Contains(contexts[0].Text, "does not hold shell commands to it") {
			t.Errorf("%+v, %v", contexts, err)
		}
		raw, _ := json.Marshal(shellCall(line))
		out, err := p.BeforeTool(t.Context(), hook.Where{Session: "s"}, hook.ToolCall{Name: "shell", Arguments: raw})
		if err != nil {
			t.Fatal(err)
		}
		return verdict(out)
	}
	for _, c := range []struct{ files, line, want string }{
		{"read-only", "echo x > a", "ask"}, {"read-only", "make 2>/dev/null", "allow"}, {"read-only", "ls 2>&1 | wc -l", "allow"}, {"read-only", "cat <<E >> a\nx\nE", "ask"},
		{"workspace-write", "echo x > a", "allow"}, {"workspace-write", "echo x > sub/../a", "allow"}, {"workspace-write", "echo x > /tmp/a", "allow"},
		{"workspace-write", "echo x > ../a", "ask"}, {"workspace-write", "echo x >| /etc/a", "ask"}, {"workspace-write", "echo x > ~/.bashrc", "ask"}, {"workspace-write", "cd / && echo x > a", "ask"}, {"workspace-write", `sh -c "echo x &> /etc/a"`, "ask"},
		{"workspace-write", "cp a ~/.zshrc", "ask"}, {"workspace-write", "mv a /etc/x", "ask"}, {"workspace-write", "tee ~/.zshrc < a", "ask"}, {"workspace-write", "sed -i s/a/b/ ~/.zshrc", "ask"}, {"workspace-write", "ln -sf a ~/.profile", "ask"},
		{"workspace-write", "mkdir -p ~/.config/x", "ask"}, {"workspace-write", "tar xf a.tar -C /", "ask"}, {"workspace-write", "tar xPf a.tar", "ask"}, {"workspace-write", "install a /usr/local/bin/ls", "ask"}, {"workspace-write", "touch ../a", "ask"}, {"workspace-write", "cd / && cp a b", "ask"}, {"workspace-write", "cp -t /etc a", "ask"},
		{"workspace-write", "cp /etc/hosts a", "allow"}, {"workspace-write", "mv a sub/b", "allow"}, {"workspace-write", "sed -i s/a/b/ a", "allow"}, {"workspace-write", "mkdir -p /tmp/a", "allow"}, {"workspace-write", "tar xf a.tar", "allow"}, {"workspace-write", "sed -n p ~/.zshrc", "allow"},
		{"read-only", "cp a b", "ask"}, {"full", "cp a /etc/b", "allow"},
		{"full", "echo x > /etc/a", "allow"},
	} {
		if got := decide(c.files, c.line); got != c.want {
			t.Errorf("%s, %q: %s, not %s", c.files, c.line, got, c.want)
		}
	}
}
