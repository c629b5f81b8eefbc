package sdk_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

type commander struct{}

func (commander) Name() string { return "served" }
func (commander) Commands(context.Context, string) ([]command.Command, error) {
	return []command.Command{{Name: "goal", Usage: "[TEXT]", Description: "say what is wanted"}}, nil
}
func (commander) Run(_ context.Context, session, name, arguments string) (string, error) {
	if arguments == "" {
		return "", errors.New("say which goal")
	}
	return session + " " + name + " " + arguments, nil
}

func TestP6_CommandsCrossTheWire(t *testing.T) {
	t.Parallel()
	p := plugintest.Run(t, serves(sdk.Services{Commands: commander{}}, sdk.RoleCommands), plugintest.Host{})
	list, err := p.Commands().Commands(t.Context(), "s")
	want, _ := commander{}.Commands(t.Context(), "s")
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("commands %+v, error %v", list, err)
	}
	if text, err := p.Commands().Run(t.Context(), "s", "goal", "ship it"); err != nil || text != "s goal ship it" {
		t.Errorf("ran: %q, error %v", text, err)
	}
	if _, err := p.Commands().Run(t.Context(), "s", "goal", ""); err == nil || err.Error() != "say which goal" {
		t.Errorf("refused: %v", err)
	}
}
