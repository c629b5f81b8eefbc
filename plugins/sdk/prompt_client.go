package sdk

import (
	"context"

	"github.com/tureen-host/tureen/host/prompt"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Prompt is the plugin's prompt provider.
func (r *Remote) Prompt() prompt.Provider {
	return &promptClient{r: r, rpc: pluginv1.NewPromptClient(r.conn)}
}

type promptClient struct {
	r   *Remote
	rpc pluginv1.PromptClient
}

func (c *promptClient) Name() string { return c.r.name }

func (c *promptClient) Sections(ctx context.Context, session string) ([]prompt.Section, error) {
	ctx, at := newCall(ctx, session, 0, 0)
	resp, err := c.rpc.GetSections(ctx, &pluginv1.GetSectionsRequest{Context: at})
	if err := c.r.outcome("GetSections", resp, err); err != nil {
		return nil, err
	}
	return mapSlice(resp.GetSections(), promptSectionFrom), nil
}

func (c *promptClient) Contexts(ctx context.Context, session string) ([]prompt.Context, error) {
	ctx, at := newCall(ctx, session, 0, 0)
	resp, err := c.rpc.GetContexts(ctx, &pluginv1.GetContextsRequest{Context: at})
	if err := c.r.outcome("GetContexts", resp, err); err != nil {
		return nil, err
	}
	return mapSlice(resp.GetContexts(), promptContextFrom), nil
}
