package sdk_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

func TestInitGetsConfigSecretsAndGrants(t *testing.T) {
	t.Parallel()
	var got sdk.Init
	p := serves(sdk.Services{})
	p.Start = func(_ context.Context, init sdk.Init) (sdk.Services, error) { got = init; return sdk.Services{}, nil }
	plugintest.Run(t, p, plugintest.Host{Secrets: map[string]string{"K": "v"}, NotesHome: "/n"})
	if string(got.Config) != "{}" || got.Secrets["K"] != "v" || got.NotesHome != "/n" || got.Generation != 1 ||
		len(got.Granted) != 1 || got.Granted[0] != sdk.CapSessionRead || got.Host == nil || got.Logger == nil {
		t.Errorf("init: %+v", got)
	}
}

func TestStartFailuresReachTheHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start func(context.Context, sdk.Init) (sdk.Services, error)
		want  string
	}{
		"error": {func(context.Context, sdk.Init) (sdk.Services, error) { return sdk.Services{}, errors.New("no disk") }, "no disk"},
		"panic": {func(context.Context, sdk.Init) (sdk.Services, error) { panic("no wit") }, "no wit"},
		"role without service": {func(context.Context, sdk.Init) (sdk.Services, error) { return sdk.Services{}, nil },
			`role "tools" is declared`},
	} {
		p := serves(sdk.Services{}, sdk.RoleTools)
		p.Start = c.start
		if _, err := plugintest.Start(t, p, plugintest.Host{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestADescriptionIsChecked(t *testing.T) {
	t.Parallel()
	good := serves(sdk.Services{})
	for want, spoil := range map[string]func(*sdk.Plugin){
		"name":          func(p *sdk.Plugin) { p.Name = "Bad Name" },
		"no version":    func(p *sdk.Plugin) { p.Version = "" },
		"no Start":      func(p *sdk.Plugin) { p.Start = nil },
		"hook points":   func(p *sdk.Plugin) { p.Roles = []sdk.Role{sdk.RoleHooks} },
		"config schema": func(p *sdk.Plugin) { p.ConfigSchema = []byte("{") },
		"unknown role":  func(p *sdk.Plugin) { p.Roles = []sdk.Role{"cook"} },
	} {
		p := good
		spoil(&p)
		if _, err := sdk.NewServer(p, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestDrainWaitsForWorkAndRefusesMore(t *testing.T) {
	t.Parallel()
	began, finish := make(chan struct{}), make(chan struct{})
	p := plugintest.Run(t, serves(sdk.Services{Tools: toolFunc(func(_ context.Context, c tool.Call, _ func(string)) (tool.Result, error) {
		close(began)
		<-finish
		return tool.Result{Text: "finished"}, nil
	})}, sdk.RoleTools), plugintest.Host{})
	type outcome struct {
		r   tool.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := p.Tools().Call(t.Context(), tool.Call{Name: "long"}, nil)
		done <- outcome{r, err}
	}()
	<-began
	if err := p.Drain(t.Context(), 20*time.Millisecond); err == nil || !strings.Contains(err.Error(), "under way") {
		t.Errorf("drain beside work: %v", err)
	}
	if _, err := p.Tools().Call(t.Context(), tool.Call{Name: "more"}, nil); err == nil || !strings.Contains(err.Error(), "draining") {
		t.Errorf("a call while draining: %v", err)
	}
	drained := make(chan error, 1)
	go func() { drained <- p.Drain(t.Context(), time.Minute) }()
	close(finish)
	if got := <-done; got.err != nil || got.r.Text != "finished" {
		t.Errorf("the work: %+v", got)
	}
	if err := <-drained; err != nil {
		t.Errorf("drain: %v", err)
	}
}

func TestInitializeIsOnceAndFirst(t *testing.T) {
	t.Parallel()
	p := plugintest.Run(t, serves(sdk.Services{}), plugintest.Host{})
	if err := p.Initialize(t.Context(), sdk.Setup{}); err == nil || !strings.Contains(err.Error(), "once") {
		t.Errorf("second Initialize: %v", err)
	}
}

func TestThePluginNoticesThatTheHostIsGone(t *testing.T) {
	t.Parallel()
	h, _ := lend(t, sdk.HostConfig{Token: "t"})
	server, err := sdk.NewServer(serves(sdk.Services{}), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	served := server.GRPCServer(nil)
	t.Cleanup(served.Stop)
	conn := dial(t, served)
	if err := sdk.NewRemote(conn, "served").Initialize(t.Context(), sdk.Setup{HostAddress: h.address, Token: "t"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-h.Attached():
	case <-server.Gone():
		t.Fatal("gone before the host is")
	}
	h.Stop()
	<-server.Gone()
}

func TestInitializeFailsWhereTheTokenIsWrong(t *testing.T) {
	t.Parallel()
	h, _ := lend(t, sdk.HostConfig{Token: "right"})
	server, err := sdk.NewServer(serves(sdk.Services{}), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	served := server.GRPCServer(nil)
	t.Cleanup(served.Stop)
	err = sdk.NewRemote(dial(t, served), "served").Initialize(t.Context(), sdk.Setup{HostAddress: h.address, Token: "wrong"})
	if err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("initialize: %v", err)
	}
}
