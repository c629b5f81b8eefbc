package host

import (
	"context"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
)

// model is the profile's model, ready to be asked.
type model struct {
	llm.Model
	info   llm.Info
	server *scripted.Server // of provider "scripted"
}

// newModel reaches the endpoint, or starts the scripted one on loopback.
func newModel(ctx context.Context, c Config) (*model, error) {
	if c.Model != nil {
		return given(ctx, c)
	}
	cfg, server, err := endpoint(ctx, c.Profile.Model, c.Env)
	if err != nil {
		return nil, err
	}
	if cfg.APIKey == "" && strings.TrimSuffix(cfg.BaseURL, "/") == openai.DefaultBaseURL {
		return nil, keyless(c.Profile)
	}
	m := &model{server: server}
	client, err := openai.New(cfg)
	if err == nil {
		m.Model = client
		m.info, err = client.Info(ctx)
	} else {
		err = refused(c.Profile, err)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// given is the model that stands in for the profile's.
func given(ctx context.Context, c Config) (*model, error) {
	m := &model{Model: c.Model, info: c.ModelInfo}
	var err error
	if m.info == (llm.Info{}) {
		m.info, err = c.Model.Info(ctx)
	}
	return m, err
}

// keptEffort is the effort that a session's requests to the same model had (L11): it
// holds where the profile names none. "" is the endpoint's default, which is never
// kept as a value.
func keptEffort(last *session.Header, now llm.Info) string {
	if last == nil || last.Provider != now.Provider || last.Model != now.Name {
		return ""
	}
	return last.Effort
}

// refused is why the adapter does not take what the profile, or the variable that
// it names, says.
func refused(p *profile.Profile, err error) error {
	found, hint, _ := strings.Cut(err.Error(), "; ")
	problem := p.Problem("model", found)
	problem.Hint = hint
	return problem
}

// keyless is why the default endpoint is not asked without a key.
func keyless(p *profile.Profile) error {
	found := "no variable is named"
	if name := p.Model.APIKeyEnv; name != "" {
		found = "$" + name + " is not set"
	}
	problem := p.Problem("model.api_key_env", found+", and "+openai.DefaultBaseURL+" asks for a key")
	problem.Hint = "set it, or name another server with OPENAI_BASE_URL or --base-url; -P demo needs neither"
	return problem
}

// endpoint says whom to ask. The server is the scripted model's, else nil; the
// caller closes it.
func endpoint(ctx context.Context, want profile.Model, env func(string) string) (openai.Config, *scripted.Server, error) {
	cfg := openai.Config{Provider: want.Provider, BaseURL: want.BaseURL, Model: want.Name, ContextWindow: want.ContextWindow,
		MaxOutputTokens: want.MaxOutputTokens, Quirk: want.Quirk}
	if want.Provider != "scripted" {
		if want.APIKeyEnv != "" {
			cfg.APIKey, cfg.APIKeyEnv = env(want.APIKeyEnv), want.APIKeyEnv
			if cfg.APIKey != "" {
				hideProcess()
			}
		}
		return cfg, nil, nil
	}
	server, err := scripted.Serve(context.WithoutCancel(ctx), scripted.Options{Model: want.Name, ContextWindow: want.ContextWindow, MaxOutputTokens: want.MaxOutputTokens, Agent: scripted.AgentOf(want.Name)})
	if err != nil {
		return cfg, nil, fmt.Errorf("start the scripted model: %w", err)
	}
	cfg.BaseURL, cfg.Quirk = server.BaseURL(), "scripted"
	return cfg, server, nil
}

// Probe asks the endpoint of a profile for its models and makes one tiny request.
func Probe(ctx context.Context, p *profile.Profile, env func(string) string) (openai.ProbeResult, error) {
	cfg, server, err := endpoint(ctx, p.Model, env)
	if err != nil {
		return openai.ProbeResult{}, err
	}
	if server != nil {
		defer server.Close()
	}
	if _, err := openai.New(cfg); err != nil {
		return openai.ProbeResult{}, refused(p, err)
	}
	return openai.Probe(ctx, cfg, p.Model.Effort, p.Model.Params)
}

func (m *model) close() error {
	if m.server == nil {
		return nil
	}
	return m.server.Close()
}
