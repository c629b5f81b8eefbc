package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// faultyArgument makes this test binary a plugin that misbehaves in the way that
// the next argument names.
const faultyArgument = "faulty-plugin"

// trimmerName makes it a strategy that trims whatever is long.
const trimmerName = "trimmer"

// faulty writes a directory that is a faulty plugin and returns its path.
func faulty(t testing.TB, u *sandbox, fault string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := u.path("work", fault)
	manifest := fmt.Sprintf("name = %q\nargv = [%q, %q, %q]\n", fault, self, faultyArgument, fault)
	mkdir(t, dir)
	write(t, filepath.Join(dir, "plugin.toml"), manifest)
	return dir
}

// serveFaulty serves a faulty plugin.
func serveFaulty(fault string) {
	if serveWrapped(fault) {
		return
	}
	switch fault {
	case butlerName:
		serveButler()
		return
	case sociableName:
		serveSociable()
		return
	case printerName:
		servePrinter()
		return
	}
	f := &faultyPlugin{name: fault}
	p := sdk.Plugin{Name: fault, Version: "1.0.0", Roles: []sdk.Role{sdk.RoleTools}}
	services := sdk.Services{Tools: f, Sessions: workspaces{f}}
	switch fault {
	case "rejects", "hookfails", "hookdies":
		p.Roles, p.HookPoints = []sdk.Role{sdk.RoleHooks}, []hook.Point{hook.BeforeStep}
		services = sdk.Services{Hooks: f}
	case "badstrategy", "sour":
		p.Roles = []sdk.Role{sdk.RoleStrategy}
		services = sdk.Services{Strategy: f}
	case trimmerName:
		p.Roles = []sdk.Role{sdk.RoleStrategy}
		services = sdk.Services{Strategy: trims{}}
	case "particular":
		p.ConfigSchema = json.RawMessage(`{"type":"object","properties":{"level":{"type":"integer"}},"required":["level"],"additionalProperties":false}`)
	}
	p.Start = func(context.Context, sdk.Init) (sdk.Services, error) {
		switch fault {
		case "unready":
			return services, errors.New("the licence file is missing; put it into the plugin's directory")
		case "diesatstart":
			fmt.Fprintln(os.Stderr, "out of luck")
			os.Exit(3)
		}
		return services, nil
	}
	sdk.Serve(p)
}

type faultyPlugin struct {
	hook.Passive
	name, workspace string
}

// workspaces keeps the working directory of the session.
type workspaces struct{ *faultyPlugin }

func (w workspaces) Open(_ context.Context, s compaction.Session) error {
	w.workspace = s.Workspace
	return nil
}
func (workspaces) Close(context.Context, string) {}

func (f *faultyPlugin) Name() string { return f.name }

func (f *faultyPlugin) Tools(context.Context, string) ([]tool.Spec, error) {
	name := "poke"
	if f.name == "errs" || f.name == "panics" { // they stand in one profile
		name = f.name
	}
	return []tool.Spec{{Name: name, Description: "pokes", Schema: json.RawMessage(`{"type":"object"}`)}}, nil
}

func (f *faultyPlugin) Call(_ context.Context, _ tool.Call, _ func(string)) (tool.Result, error) {
	switch f.name {
	case "dies":
		fmt.Fprintln(os.Stderr, "poked too hard")
		os.Exit(3)
	case "errs":
		return tool.Result{}, errors.New("the finger is broken")
	case "panics":
		panic("the finger is gone")
	case "floods":
		for i := range 20_000 {
			fmt.Fprintln(os.Stdout, "flood", i)
			fmt.Fprintln(os.Stderr, "flood", i)
		}
	case "dumps":
		return tool.Result{Text: "dumped:\n" + strings.Join(os.Environ(), "\n")}, nil
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		_ = os.WriteFile(filepath.Join(f.workspace, "begun"), nil, 0o600)
		select {}
	}
	return tool.Result{Text: "poked"}, nil
}

func (f *faultyPlugin) Points() []hook.Point { return []hook.Point{hook.BeforeStep} }
func (f *faultyPlugin) BeforeStep(context.Context, hook.Where, []hook.Pending) (hook.StepDecision, error) {
	switch f.name {
	case "rejects":
		return hook.StepDecision{Reject: "nobody works on a Sunday"}, nil
	case "hookfails":
		return hook.StepDecision{}, errors.New("the calendar cannot be read")
	}
	os.Exit(3)
	return hook.StepDecision{}, nil
}

func (f *faultyPlugin) Open(context.Context, compaction.Session) (compaction.Opening, error) {
	if f.name == "sour" {
		return compaction.Opening{}, nil
	}
	return compaction.Opening{}, errors.New("the template is broken; mend the template")
}

func (f *faultyPlugin) Propose(context.Context, compaction.Input) (compaction.Proposal, error) {
	return compaction.Proposal{}, errors.New("the template is broken; mend the template")
}
