package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/tureen-host/tureen/host/llm"
)

const (
	modelsTimeout = 5 * time.Second
	maxModels     = 16 << 20
)

// served is what the endpoint says about the model.
type served struct {
	name      string
	window    int
	maxOutput int
}

// Info implements llm.Model. A number of the Config wins; else the endpoint is
// asked for its models once, and a failure leaves the window unknown. With the
// model name Auto the name has to be found, so there a failure is an error and
// the next call asks again.
func (c *Client) Info(ctx context.Context) (llm.Info, error) {
	info := llm.Info{
		Provider: c.cfg.Provider, Name: c.cfg.Model,
		ContextWindow: c.cfg.ContextWindow, WindowSource: "profile", MaxOutputTokens: c.cfg.MaxOutputTokens,
	}
	if c.cfg.ContextWindow > 0 && c.cfg.Model != Auto {
		return info, nil
	}
	s, err := c.ask(ctx)
	if err != nil && c.cfg.Model == Auto {
		return llm.Info{}, err
	}
	if c.cfg.Model == Auto {
		info.Name = s.name
	}
	if info.ContextWindow == 0 {
		info.ContextWindow, info.WindowSource = s.window, "probed"
	}
	if info.ContextWindow == 0 {
		info.WindowSource = "unknown"
	}
	if info.MaxOutputTokens == 0 {
		info.MaxOutputTokens = s.maxOutput
	}
	return info, nil
}

// modelName resolves the name of a request.
func (c *Client) modelName(ctx context.Context, name string) (string, error) {
	if name == "" || name == Auto {
		name = c.cfg.Model
	}
	if name != Auto {
		return name, nil
	}
	s, err := c.ask(ctx)
	return s.name, err
}

// window is the context window as far as it is known without asking.
func (c *Client) window() int {
	if s := c.served.Load(); s != nil && c.cfg.ContextWindow == 0 {
		return s.window
	}
	return c.cfg.ContextWindow
}

// ask returns what the endpoint says, from an earlier answer if there is one.
func (c *Client) ask(ctx context.Context) (served, error) {
	select {
	case c.gate <- struct{}{}:
		defer func() { <-c.gate }()
	case <-ctx.Done():
		return served{}, c.unreachable(ctx, ctx.Err(), 0)
	}
	if s := c.served.Load(); s != nil {
		return *s, nil
	}
	if c.asked && c.cfg.Model != Auto {
		return served{}, nil
	}
	entries, err := c.list(ctx)
	if ctx.Err() != nil {
		return served{}, c.unreachable(ctx, ctx.Err(), 0)
	}
	c.asked = true
	if err != nil {
		return served{}, err
	}
	s := c.choose(entries)
	if s.name == "" {
		return served{}, &llm.Error{
			Code: llm.CodeNotFound, Message: c.base.Host + " lists no model",
			Hint: "load a model on the server, or name one in the profile",
		}
	}
	c.served.Store(&s)
	return s, nil
}

// list asks for the models, for five seconds at most.
func (c *Client) list(ctx context.Context) ([]modelEntry, error) {
	sent, cancel := context.WithTimeoutCause(ctx, modelsTimeout, errIdle)
	defer cancel()
	var res *http.Response
	err := c.api.Execute(sent, http.MethodGet, "models", nil, &res)
	if res != nil && res.StatusCode >= 300 {
		return nil, c.refused(res, &call{}, c.cfg.Model)
	}
	if err != nil {
		return nil, c.unreachable(sent, err, modelsTimeout)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxModels))
	if err != nil {
		return nil, c.unreachable(sent, err, modelsTimeout)
	}
	var list struct {
		Data []modelEntry `json:"data"`
	}
	if json.Unmarshal(data, &list.Data) == nil { // Together sends the list alone
		return list.Data, nil
	}
	if r := readReply(res.StatusCode, data); r.html {
		return nil, c.hinted(&llm.Error{Code: llm.CodeNotFound, Status: res.StatusCode, Message: r.summary()}, &r, &call{}, c.cfg.Model)
	}
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &list); err != nil && !errors.As(err, &wrongType) {
		return nil, &llm.Error{
			Code: llm.CodeMalformed, Message: fmt.Sprintf("the list of models at %s cannot be read: %v", c.base.Host, err),
			Hint: "name the model and its context_window in the profile",
		}
	}
	return list.Data, nil
}

// choose takes the model of the Config, the first for Auto, or the only one: a
// server of one model often answers to any name.
func (c *Client) choose(entries []modelEntry) served {
	i := slices.IndexFunc(entries, func(m modelEntry) bool { return m.ID == c.cfg.Model })
	if i < 0 && (c.cfg.Model == Auto || len(entries) == 1) {
		i = 0
	}
	if i < 0 || i >= len(entries) {
		return served{name: c.known()}
	}
	m := entries[i]
	return served{name: m.ID, window: m.window(), maxOutput: int(m.TopProvider.MaxCompletion)}
}

// known is the configured name, "" for Auto.
func (c *Client) known() string {
	if c.cfg.Model == Auto {
		return ""
	}
	return c.cfg.Model
}

// modelEntry is a row of /models under all the names that servers give its
// window.
type modelEntry struct {
	ID            string `json:"id"`
	MaxModelLen   count  `json:"max_model_len"`         // vLLM
	ContextLength count  `json:"context_length"`        // OpenRouter, Together
	ContextWindow count  `json:"context_window"`        // Groq
	Loaded        count  `json:"loaded_context_length"` // LM Studio
	MaxContext    count  `json:"max_context_length"`
	Meta          struct {
		Ctx      count `json:"n_ctx"`       // llama.cpp: a slot
		CtxTrain count `json:"n_ctx_train"` // llama.cpp: the model
	} `json:"meta"`
	TopProvider struct { // OpenRouter: who serves it
		ContextLength count `json:"context_length"`
		MaxCompletion count `json:"max_completion_tokens"`
	} `json:"top_provider"`
}

// window prefers what is really served to what the model could do.
func (m *modelEntry) window() int {
	for _, n := range []count{
		m.TopProvider.ContextLength, m.Meta.Ctx, m.Loaded, m.MaxModelLen,
		m.ContextLength, m.ContextWindow, m.MaxContext, m.Meta.CtxTrain,
	} {
		if n > 0 {
			return int(n)
		}
	}
	return 0
}
