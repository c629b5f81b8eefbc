package main_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

const policyRow = `[[plugins]]
use = "policy"
config = { deny = ["shell: git push *"], allow = ["shell: rm -rf scratch"] }
`

// What needs an approval does not run where nobody can be asked; what needs none, or
// is allowed by a rule, does. The model is told of the policy and of each refusal.
func TestT16_TheProgramHoldsToThePolicy(t *testing.T) {
	t.Parallel()
	command := func(line string) object { return object{"description": "a step of the test", "command": line} }
	outside, err := os.MkdirTemp("/var/tmp", "outside") // which is no place for temporary files to the policy
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(outside) })
	p := planned(t, user(t), []scripted.Reply{
		batch(1, "shell", command("touch made && rm -rf scratch")), batch(2, "shell", command(`"r"m -r$'f' kept`)), batch(3, "shell", command("sh -c 'git push; touch pushed'")),
		batch(4, "write", object{"file_path": outside + "/file", "content": "x"}), {Text: "Done what could be done."},
	})
	if err := os.WriteFile(p.path("work", "policed.toml"), []byte(crashProfile+policyRow), 0o600); err != nil {
		t.Fatal(err)
	}
	p.flags = []string{"-P", "policed.toml"}
	for _, dir := range []string{"kept", "scratch"} {
		if err := os.Mkdir(p.path("work", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if o := p.sandbox.run(t, append([]string{"run", "-q"}, append(p.flags, p.task)...)...); o.exit != 5 {
		t.Fatalf("exit %d, want 5: an approval that nobody could give\n%s%s", o.exit, o.stdout, o.stderr)
	}

	for name, want := range map[string]bool{"made": true, "kept": true, "scratch": false, "pushed": false} {
		if _, err := os.Stat(p.path("work", name)); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside of the workspace: %v, %v", left, err)
	}
	var denied []string
	told := false
	for _, e := range p.log(t) {
		switch e.Kind {
		case session.KindToolResult:
			if r, err := session.Decode[session.ToolResult](e); err == nil && r.Code == "DENIED" {
				denied = append(denied, r.Message.Text())
			}
		case session.KindMessageUser:
			m, err := session.Decode[session.Message](e)
			told = told || err == nil && strings.Contains(m.Message.Text(), "File policy: workspace-write") && strings.Contains(m.Message.Text(), "Approval policy: ask")
		}
	}
	if len(denied) != 3 || !strings.Contains(denied[0], "nobody can be asked here") || !strings.Contains(denied[1], `"shell: git push *"`) || !strings.Contains(denied[2], "nobody can be asked here") {
		t.Errorf("denied: %q", denied)
	}
	if !told {
		t.Error("the model is not told of the policy")
	}
}
