package cli

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
	"github.com/tureen-host/tureen/host/profile"
)

// endpoint looks at the model's, and asks it only with probe.
func (d *doctor) endpoint(ctx context.Context, p *profile.Profile, probe bool) {
	if p == nil {
		d.warn("mend the profile first", "endpoint", "not looked at")
		return
	}
	d.ok("endpoint", "%s, model %s (%s)", address(p.Model), plain(p.Model.Name), p.Origin("model.name"))
	if p.Model.Provider != "scripted" {
		d.key(p.Model)
	}
	if !probe {
		d.ok("probe", "not asked; --probe does")
		return
	}
	r, err := host.Probe(ctx, p, d.env)
	d.models(p, r)
	if err != nil {
		exit := exitProvider
		if faultOf(err).exit == exitUsage {
			exit = exitUsage // what the profile says is at fault
		}
		d.failed(exit, "request", err)
		return
	}
	d.ok("request", "model %s answered: first byte after %d ms, all after %d ms", plain(r.Model), r.FirstByte.Milliseconds(), r.Took.Round(time.Millisecond).Milliseconds())
	d.abilities(r)
}

// address is where the endpoint is, without what may be secret.
func address(m profile.Model) string {
	if m.Provider == "scripted" {
		return "scripted, in this process"
	}
	if u, err := url.Parse(m.BaseURL); err == nil {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return plain(u.String())
	}
	return "an address that does not read"
}

func (d *doctor) key(m profile.Model) {
	switch {
	case m.APIKeyEnv == "":
		d.ok("key", "none is sent")
	case d.env(m.APIKeyEnv) == "":
		d.warn("export "+m.APIKeyEnv+"=… unless the endpoint wants none", "key", "%s is not set", m.APIKeyEnv)
	default:
		d.ok("key", "%s is set", m.APIKeyEnv)
	}
}

// models tells what the endpoint lists.
func (d *doctor) models(p *profile.Profile, r openai.ProbeResult) {
	switch {
	case r.ModelsErr != nil && r.Model != "":
		f := faultOf(r.ModelsErr)
		d.warn(f.Hint, "models", "there is no list: %s", f.Message)
	case r.ModelsErr != nil || len(r.Models) == 0:
		return // the request says so
	case !r.Listed:
		d.warn("choose one with -m or model.name", "models", "%s is not among the %d that are listed: %s", plain(p.Model.Name), len(r.Models), someOf(r.Models))
	default:
		d.ok("models", "%d listed: %s", len(r.Models), someOf(r.Models))
	}
	switch written := p.Model.ContextWindow; {
	case written > 0 && r.Window > 0 && written > r.Window:
		d.warn("write a smaller model.context_window, or serve a larger one", "window", "the profile says %d tokens, the endpoint %d", written, r.Window)
	case written > 0:
		d.ok("window", "%d tokens (%s)", written, p.Origin("model.context_window"))
	case r.Window > 0:
		d.ok("window", "%d tokens, as the endpoint says", r.Window)
	default:
		d.warn("write model.context_window: without it nothing is compacted by itself", "window", "the endpoint does not tell it")
	}
}

func someOf(names []string) string {
	const most = 8
	shown := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		shown = append(shown, plain(render.Head(n, 60)))
	}
	if len(names) > most {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}

// abilities tells what the answer showed.
func (d *doctor) abilities(r openai.ProbeResult) {
	if r.Streams {
		d.ok("streaming", "the answer came in events")
	} else {
		d.warn("answers are shown, and cancelled, only once they are whole", "streaming", "the answer came in one piece")
	}
	if r.Tools {
		d.ok("tools", "a request with a tool was taken")
	} else {
		d.fail(exitProvider, "choose a model, or start the server, with tool calls: an agent can do nothing without", "tools", "refused: %s", faultOf(r.ToolsErr).Message)
	}
	if r.Usage != (llm.Usage{}) {
		d.ok("usage", "reported: %d in, %d out", r.Usage.Input+r.Usage.CacheRead+r.Usage.CacheWrite, r.Usage.Output)
	} else {
		d.warn("the context meter goes by estimates, and costs are not counted", "usage", "not reported")
	}
	if r.ReasoningField == "" {
		d.ok("reasoning", "none in this answer")
	} else {
		d.ok("reasoning", "in the field %s", r.ReasoningField)
	}
}
