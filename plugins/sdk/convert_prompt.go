package sdk

import (
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/prompt"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

func promptSectionTo(s prompt.Section) *pluginv1.Section {
	return &pluginv1.Section{Id: s.ID, Order: int32(s.Order), Text: valid(s.Text), Raw: s.Raw, Complete: s.Complete, Tool: s.Tool}
}

func promptSectionFrom(s *pluginv1.Section) prompt.Section {
	return prompt.Section{ID: s.GetId(), Order: int(s.GetOrder()), Text: s.GetText(), Raw: s.GetRaw(), Complete: s.GetComplete(), Tool: s.GetTool()}
}

func promptContextTo(c prompt.Context) *pluginv1.RuntimeContext {
	return &pluginv1.RuntimeContext{Id: c.ID, Order: int32(c.Order), Text: valid(c.Text), Tool: c.Tool, Own: c.Own}
}

func promptContextFrom(c *pluginv1.RuntimeContext) prompt.Context {
	return prompt.Context{ID: c.GetId(), Order: int(c.GetOrder()), Text: c.GetText(), Tool: c.GetTool(), Own: c.GetOwn()}
}

func whereFrom(c *pluginv1.CallContext) hook.Where {
	return hook.Where{Session: c.GetSession(), Turn: int(c.GetTurn()), Step: int(c.GetStep())}
}
