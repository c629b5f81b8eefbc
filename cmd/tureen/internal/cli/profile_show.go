package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/profiles"
)

func (a *app) profileShowCommand() *cobra.Command {
	var asJSON, resolved bool
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Print a profile",
		Long: `Show prints a profile's file, or with --resolved every value that will be in
force and who set it: the profile, the one it extends, a flag, the environment,
your settings or a default.`,
		Example: `  tureen profile show demo
  tureen profile show notesoup --resolved -c model.context_window=64000
  tureen profile show notesoup --json`,
		Args: arguments(0, 1, "one profile"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := a.profile
			if len(args) > 0 {
				name = args[0]
			}
			p, err := a.loadProfile(name, "")
			if err != nil {
				return err
			}
			if asJSON {
				v, err := resolvedProfile(p)
				if err != nil {
					return err
				}
				return a.print(true, v, nil)
			}
			return a.print(false, nil, func(w io.Writer) error {
				if resolved {
					return p.WriteResolved(w)
				}
				text, err := source(p, name)
				if err != nil {
					return err
				}
				_, err = w.Write(text)
				return err
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&resolved, "resolved", false, "print every value and who set it")
	return cmd
}

// source reads a profile's own text.
func source(p *profile.Profile, name string) ([]byte, error) {
	shipped := path.Base(p.Path)
	if !isPath(name) && !p.Project && p.Path == "profiles/"+shipped {
		return profiles.FS.ReadFile(shipped)
	}
	return os.ReadFile(p.Path)
}

// profileJSON is the resolved profile for programs.
type profileJSON struct {
	Name        string                    `json:"name"`
	Path        string                    `json:"path"`
	Description string                    `json:"description"`
	Project     bool                      `json:"project"`
	Values      map[string]any            `json:"values"`
	Origins     map[string]profile.Origin `json:"origins"` // by dotted key
}

func resolvedProfile(p *profile.Profile) (profileJSON, error) {
	v := profileJSON{Name: p.Name, Path: p.Path, Description: p.Description, Project: p.Project, Origins: p.Origins}
	var text bytes.Buffer
	if err := p.WriteResolved(&text); err != nil {
		return v, err
	}
	if err := toml.Unmarshal(text.Bytes(), &v.Values); err != nil {
		return v, fmt.Errorf("read the resolved profile: %w", err)
	}
	return v, nil
}
