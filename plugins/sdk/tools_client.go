package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tureen-host/tureen/host/tool"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Tools is the plugin's tool provider.
func (r *Remote) Tools() tool.Provider {
	return &toolsClient{r: r, rpc: pluginv1.NewToolsClient(r.conn)}
}

type toolsClient struct {
	r   *Remote
	rpc pluginv1.ToolsClient
}

const maxToolPages = 1000 // a plugin that pages for ever is cut off here

func (c *toolsClient) Name() string { return c.r.name }

func (c *toolsClient) Tools(ctx context.Context, session string) ([]tool.Spec, error) {
	var specs []tool.Spec
	page := ""
	for range maxToolPages {
		ctx, at := newCall(ctx, session, 0, 0)
		resp, err := c.rpc.ListTools(ctx, &pluginv1.ListToolsRequest{Context: at, Page: page})
		if err := c.r.outcome("ListTools", resp, err); err != nil {
			return nil, err
		}
		specs = append(specs, mapSlice(resp.GetTools(), specFrom)...)
		if page = resp.GetNextPage(); page == "" {
			return specs, nil
		}
	}
	return nil, c.r.broken("ListTools", "never ends its pages")
}

func (c *toolsClient) Call(ctx context.Context, call tool.Call, progress func(string)) (tool.Result, error) {
	ctx, at := newCall(ctx, call.Session, call.Turn, call.Step)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var text gathered
	stream, err := c.rpc.CallTool(ctx, callTo(call, at))
	for err == nil {
		var resp *pluginv1.CallToolResponse
		if resp, err = stream.Recv(); err != nil {
			break
		}
		switch m := resp.GetMessage().(type) {
		case *pluginv1.CallToolResponse_Progress:
			if progress != nil {
				progress(m.Progress)
			}
		case *pluginv1.CallToolResponse_Text:
			if !text.add(m.Text) {
				return tool.Result{}, c.r.broken("CallTool", fmt.Sprintf("sent over %d MiB of text and no result, and was stopped", endlessText>>20))
			}
		case *pluginv1.CallToolResponse_Error:
			return tool.Result{}, errorFrom(m.Error)
		case *pluginv1.CallToolResponse_Result:
			result := resultFrom(m.Result)
			whole, lost := text.text(result.Text)
			result.Text, result.LeftOut = whole, result.LeftOut+lost
			return result, nil
		}
	}
	if errors.Is(err, io.EOF) {
		return tool.Result{}, c.r.broken("CallTool", "ended without a result")
	}
	return tool.Result{}, statusError(c.r.name, "CallTool", err)
}
