package files

import (
	"context"
	_ "embed"
	"fmt"
	"sync"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

var (
	//go:embed read.json
	readSchema []byte
	//go:embed write.json
	writeSchema []byte
	//go:embed edit.json
	editSchema []byte
	//go:embed working_directory.json
	directorySchema []byte
	//go:embed present.json
	presentSchema []byte
)

// Provider is the plugin's tool.Provider and sdk.Sessions. It is safe for
// concurrent use by several sessions.
type Provider struct {
	toolcall.Workspaces
	seen observations
	// modify makes the check of a file and its replacement one act: within this
	// process no write or edit comes between.
	modify sync.Mutex
}

// New makes a Provider without sessions.
func New() *Provider { return &Provider{} }

// Name is the plugin's name.
func (p *Provider) Name() string { return Name }

// Close forgets a session and what it has read (C18).
func (p *Provider) Close(ctx context.Context, id string) {
	p.Workspaces.Close(ctx, id)
	p.seen.drop(id)
}

// Tools lists the tools; they are the same in every session.
func (p *Provider) Tools(context.Context, string) ([]tool.Spec, error) {
	return []tool.Spec{{
		Name: "read",
		Description: "Show a text file (UTF-8) with line numbers. One call shows at most 2000 lines or 51200 bytes, and 2000 characters of a line; " +
			"the last line in brackets says what was shown and which offset comes next. Needed before write or edit may change an existing file.",
		Schema:        readSchema,
		Parallel:      true,
		NoSpill:       true,
		Guidance:      "Look at text files with read rather than with cat or head in a shell; page through long ones with offset and limit.",
		GuidanceOrder: 1110,
	}, {
		Name: "write",
		Description: "Put a text into a file, byte for byte: a missing file is created along with its directories, an existing one is replaced as a whole " +
			"(read it first).",
		Schema:        writeSchema,
		Guidance:      "Before write replaces a file that already exists, read it; for a change of a part, edit is the better tool.",
		GuidanceOrder: 1120,
	}, {
		Name: "edit",
		Description: "Change part of a text file: old_string, taken literally, is replaced by new_string. Read the file first, and copy old_string without " +
			"the line numbers. LF and CRLF match each other; the file keeps its own line ends.",
		Schema:        editSchema,
		Guidance:      "edit works only on a file that you have read, written or edited before in this session, and that nobody else changed since.",
		GuidanceOrder: 1130,
	}, {
		Name: "working_directory",
		Description: "Tell the working directory, or change it: relative paths and shell commands start there from the next step on. " +
			"What may be changed stays the same.",
		Schema: directorySchema,
	}, {
		Name:        "present",
		Description: "Name the files that the user is to get as the result, once they are finished: each is looked up and listed with its size.",
		Schema:      presentSchema,
	}}, nil
}

// Call runs one tool.
func (p *Provider) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	switch call.Name {
	case "read":
		return toolcall.Run(ctx, call, p.read), nil
	case "write":
		return toolcall.Run(ctx, call, p.write), nil
	case "edit":
		return toolcall.Run(ctx, call, p.edit), nil
	case "working_directory":
		return p.workingDirectory(ctx, call), nil
	case "present":
		return toolcall.Run(ctx, call, p.present), nil
	}
	return tool.Result{}, fmt.Errorf("plugin %q has no tool %q", Name, call.Name)
}
