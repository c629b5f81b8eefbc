package web

import (
	"context"
	"net"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// PluginWith is the plugin with a name server of the test's own.
func PluginWith(resolver *net.Resolver) sdk.Plugin {
	p := Plugin("1.2.3")
	p.Start = func(_ context.Context, init sdk.Init) (sdk.Services, error) {
		config, err := ParseConfig(init.Config)
		if err != nil {
			return sdk.Services{}, err
		}
		tools := New(config, "1.2.3")
		tools.pages.guard.resolver = resolver
		return sdk.Services{Tools: tools}, nil
	}
	return p
}
