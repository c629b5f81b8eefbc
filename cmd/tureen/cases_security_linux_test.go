package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// What was allowed once before a reset is asked for again behind it.
func TestSEC_C125_AnApprovalDoesNotOutliveAReset(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"notesoup", "summary"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			touch := func(n int) scripted.Reply {
				return batch(n, "shell", object{"description": "touch it", "command": "touch ran"})
			}
			p, _ := boxed(t, keeper{&plan{replies: []scripted.Reply{touch(1), half(2), much(3), touch(4), {Text: "So be it."}}}, quotes("Touch it")},
				"[[plugins]]\nuse = \"policy\"\nconfig = { ask = [\"shell: touch *\"] }\n", "-c", "compaction.strategy="+strategy)
			s := sit(t, p.sandbox, "run", "-P", "case.toml", "-c", "compaction.strategy="+strategy, "Touch it.")
			s.sees("Enter is n > ")
			s.types("1\n")
			s.sees("touch ran")
			s.sees("Enter is n > ")
			if err := os.Remove(p.path("work", "ran")); err != nil {
				t.Errorf("the first command did not run: %v", err)
			}
			s.types("n\n")
			if exit, screen := s.leaves(); exit != 0 || exists(p.path("work", "ran")) {
				t.Errorf("exit %d, ran again: %v\n%s", exit, exists(p.path("work", "ran")), screen)
			}
			events := p.log(t)
			boundary := compacted(t, events).Seq
			asked := find(t, events, session.KindQuestionAsked, func(session.Question) bool { return true })
			if len(asked) != 2 || asked[0].Seq > boundary || asked[1].Seq < boundary {
				t.Errorf("%d questions, want one on each side of the reset", len(asked))
			}
		})
	}
}

// secretsOfTheUser are variables with something in them that no plugin and no command
// may see, and settings that a command needs.
var (
	secretsOfTheUser = []string{
		"OPENAI_API_KEY=CANARY-1", "GITHUB_TOKEN=CANARY-2", "AWS_SECRET_ACCESS_KEY=CANARY-3", "SMTP_PASS=CANARY-4", "SESSION_COOKIE=CANARY-5",
		"DATABASE_URL=postgres://app:CANARY-6@db/app", "CACHE_URL=redis://:CANARY-7@cache", "MIRROR=https://CANARY-8@git.example.org/x",
		"QUEUE=amqp://queue/?user=app&password=CANARY-9", "PGOPTS=host=db password=CANARY-10", "SLACK_WEBHOOK=https://hooks.example.org/CANARY-11", "GITHUB_PAT=CANARY-12",
	}
	settingsOfTheUser = []string{"LANG=C.UTF-8", "SITE=north", "GOFLAGS=-mod=mod", "REMOTE=ssh://git@git.example.org/x", "SSH_AUTH_SOCK=/nowhere/agent"}
)

// A host whose environment is full of secrets hands none to any shipped plugin, to
// one of somebody else, or to a command; what everybody needs is there.
func TestSEC_C127_NoPluginGetsASecretOfTheUser(t *testing.T) {
	t.Parallel()
	shipped := []string{"files", "search", "shell", "notesoup", "policy", "instructions", "planning", "guards", "ask", "web", "subagents", "schedule", "summary"}
	rows := ""
	for _, name := range shipped[4:12] {
		rows += fmt.Sprintf("[[plugins]]\nuse = %q\n", name)
	}
	p, model := boxed(t, &plan{replies: []scripted.Reply{
		batch(1, "poke", object{}),
		batch(2, "shell", object{"description": "look", "command": "env > env.txt; touch begun; while [ ! -e go ]; do sleep 0.02; done"}), {Text: "Seen."},
	}}, "", "-c", "compaction.strategy=summary")
	write(t, p.path("work", "case.toml"), crashProfile+rows+fmt.Sprintf("[[plugins]]\nuse = %q\n", faulty(t, p.sandbox, "dumps")))
	p.env = append(append(p.env, secretsOfTheUser...), settingsOfTheUser...)
	k := p.start(t, "", p.run()...)
	t.Cleanup(func() { _ = k.cmd.Process.Kill() })
	waitFor(t, func() bool { return exists(p.path("work", "begun")) })
	environs := p.environs(t, k.cmd.Process.Pid)
	write(t, p.path("work", "go"), "")
	if k.wait(t); k.exit != 0 {
		t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
	}
	command, err := os.ReadFile(p.path("work", "env.txt"))
	if err != nil {
		t.Fatal(err)
	}
	environs["a command"] = string(command)
	for _, m := range model.asked()[1].Messages {
		if strings.HasPrefix(m.Text(), "dumped:") {
			environs["what dumps says"] = strings.TrimPrefix(m.Text(), "dumped:\n")
		}
	}
	for _, name := range append(shipped, "dumps", "a command", "what dumps says") {
		lines := strings.Split(environs[name], "\n")
		if strings.Contains(environs[name], "CANARY") {
			t.Errorf("%s holds a secret:\n%s", name, environs[name])
		}
		for _, needed := range []string{"PATH=", "HOME=", "TMPDIR=", "LANG=C.UTF-8"} {
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, needed) }) {
				t.Errorf("%s has no %s:\n%s", name, needed, environs[name])
			}
		}
		for _, setting := range settingsOfTheUser {
			if name == "a command" && !slices.Contains(lines, setting) {
				t.Errorf("a command does not have %s", setting)
			}
		}
	}
	p.holdsNo(t, "CANARY")
}

// environs are the environments that a host's plugin processes were started with, by
// plugin.
func (s *sandbox) environs(t *testing.T, host int) map[string]string {
	t.Helper()
	found := map[string]string{}
	processes, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range processes {
		dir := filepath.Dir(file)
		stat, _ := os.ReadFile(file)
		_, after, _ := bytes.Cut(stat, []byte(") "))
		if fields := bytes.Fields(after); len(fields) < 2 || string(fields[1]) != fmt.Sprint(host) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil {
			t.Error(err)
		}
		args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		found[args[len(args)-1]] = strings.ReplaceAll(string(env), "\x00", "\n")
	}
	return found
}
