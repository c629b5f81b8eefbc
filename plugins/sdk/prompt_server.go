package sdk

import (
	"context"

	"github.com/tureen-host/tureen/host/prompt"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

type promptServer struct {
	pluginv1.UnimplementedPromptServer
	s *Server
}

func (p *promptServer) GetSections(ctx context.Context, req *pluginv1.GetSectionsRequest) (*pluginv1.GetSectionsResponse, error) {
	sections, err := protect(func() ([]prompt.Section, error) {
		return p.s.use().Prompt.Sections(ctx, req.GetContext().GetSession())
	})
	return &pluginv1.GetSectionsResponse{Error: p.s.failure(err), Sections: mapSlice(sections, promptSectionTo)}, nil
}

func (p *promptServer) GetContexts(ctx context.Context, req *pluginv1.GetContextsRequest) (*pluginv1.GetContextsResponse, error) {
	contexts, err := protect(func() ([]prompt.Context, error) {
		return p.s.use().Prompt.Contexts(ctx, req.GetContext().GetSession())
	})
	return &pluginv1.GetContextsResponse{Error: p.s.failure(err), Contexts: mapSlice(contexts, promptContextTo)}, nil
}
