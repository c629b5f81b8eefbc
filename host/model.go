package host

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

// model is the profile's model, ready to be asked.
type model struct {
	llm.Model
	info   llm.Info
	server *scripted.Server // of provider "scripted"
}

// newModel reaches the endpoint, or starts the scripted one on loopback.
func newModel(ctx context.Context, c Config) (*model, error) {
	want := c.Profile.Model
	m := &model{}
	cfg := openai.Config{Provider: want.Provider, BaseURL: want.BaseURL, Model: want.Name, ContextWindow: want.ContextWindow,
		MaxOutputTokens: want.MaxOutputTokens, Quirk: want.Quirk}
	switch want.Provider {
	case "scripted":
		server, err := scripted.Serve(context.WithoutCancel(ctx), scripted.Options{Model: want.Name, ContextWindow: want.ContextWindow, MaxOutputTokens: want.MaxOutputTokens, Agent: scripted.Rules{}})
		if err != nil {
			return nil, fmt.Errorf("start the scripted model: %w", err)
		}
		m.server, cfg.BaseURL, cfg.Quirk = server, server.BaseURL(), "scripted"
	default:
		if want.APIKeyEnv != "" {
			cfg.APIKey, cfg.APIKeyEnv = c.Env(want.APIKeyEnv), want.APIKeyEnv
		}
	}
	client, err := openai.New(cfg)
	if err == nil {
		m.Model = client
		m.info, err = client.Info(ctx)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *model) close() error {
	if m.server == nil {
		return nil
	}
	return m.server.Close()
}
