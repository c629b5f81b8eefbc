package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Version is the program's.
const Version = "0.1.0-dev"

// versionInfo is what this program is and speaks.
type versionInfo struct {
	Version   string `json:"version"`
	Go        string `json:"go"`
	System    string `json:"system"`
	Protocol  string `json:"plugin_protocol"`
	LogSchema int    `json:"log_schema"`
}

func versions() versionInfo {
	return versionInfo{Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, fmt.Sprintf("%d.%d", sdk.ProtocolVersion, sdk.ProtocolMinor), session.SchemaVersion}
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  tureen version --json",
		Args:    arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			v := versions()
			return a.print(asJSON, v, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "tureen %s (%s, %s, plugin protocol %s, log schema %d)\n", v.Version, v.Go, v.System, v.Protocol, v.LogSchema)
				return err
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
