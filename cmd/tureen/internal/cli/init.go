package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/profiles"
)

// first is a first profile that is to be written.
type first struct {
	*app
	preset  string
	name    string
	force   bool
	project bool
}

func (a *app) initCommand() *cobra.Command {
	f := first{app: a}
	var about strings.Builder
	for _, p := range presets {
		fmt.Fprintf(&about, "  %-11s %s\n", p.name, p.about)
	}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a first profile",
		Long: `Init writes a profile with comments, for you to change, into your configuration
directory, or with --project into .tureen/profiles of the working directory. It
writes no key and asks nothing of the network. At a terminal it asks for what the
flags leave open; elsewhere it asks nothing and takes the preset openai.

Presets:
` + strings.TrimSuffix(about.String(), "\n"),
		Example: `  tureen init
  tureen init --preset deepseek -m deepseek-chat
  tureen init --preset vllm --base-url http://gpu-box:8000/v1 --name gpu-box
  tureen init --preset demo --project`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.write(cmd.Context()) },
	}
	cmd.Flags().StringVar(&f.preset, "preset", "", strings.Join(presetNames(), ", "))
	cmd.Flags().StringVar(&f.name, "name", "", "the profile's name; else that of the preset")
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite a profile of that name")
	cmd.Flags().BoolVar(&f.project, "project", false, "write it into the project instead of your configuration directory")
	return cmd
}

func (f *first) write(ctx context.Context) error {
	if f.globals.profile != "" || len(f.overrides) > 0 {
		return usagef("write the profile, then change it", "-P and -c are not for init; -m and --base-url are")
	}
	p, chosen, err := f.choose(ctx)
	if err != nil {
		return err
	}
	if f.name == "" {
		if f.name = p.name; f.name == presetDemo {
			f.name = "my-demo" // the shipped one keeps its name
		}
	}
	path, err := f.path()
	if err != nil {
		return err
	}
	if err := f.save(path, p.text(chosen)); err != nil {
		return err
	}
	return f.finish(path, p, chosen)
}

// choose settles what the flags leave open: with a person, or by defaults.
func (f *first) choose(ctx context.Context) (preset, filled, error) {
	chosen := filled{model: f.model, baseURL: f.baseURL}
	asked := f.preset == "" && f.canAsk()
	if asked {
		for _, p := range presets {
			f.lines.Print(fmt.Sprintf("  %-11s %s", p.name, p.about))
		}
		line, err := f.ask(ctx, "preset [openai]: ")
		if err != nil {
			return preset{}, chosen, err
		}
		f.preset = line
	}
	if f.preset == "" {
		f.preset = presets[0].name
	}
	p, err := findPreset(f.preset)
	switch {
	case err != nil:
		return p, chosen, err
	case p.name == presetDemo && (chosen.model != "" || chosen.baseURL != ""):
		return p, chosen, usagef("leave them out", "the preset demo takes no -m and no --base-url")
	case asked && p.names && chosen.model == "":
		chosen.model, err = f.ask(ctx, "model [to be filled in later]: ")
	}
	return p, chosen, err
}

var profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

func (f *first) path() (string, error) {
	if !profileName.MatchString(f.name) {
		return "", usagef("use a-z, 0-9, _ and -", "--name %q is no name of a profile", f.name)
	}
	if f.project {
		return filepath.Abs(filepath.Join(".tureen", "profiles", f.name+".toml"))
	}
	paths, err := host.FindPaths(f.env, "")
	return filepath.Join(paths.Config, "profiles", f.name+".toml"), err
}

// save writes the file, whole or not at all, once it is known that it loads.
func (f *first) save(path, text string) error {
	if _, err := os.Lstat(path); err == nil && !f.force {
		return usagef("choose another --name, or overwrite it with --force", "%s exists already", path)
	}
	mode := fs.FileMode(0o700)
	if f.project {
		mode = 0o755
	}
	err := os.MkdirAll(filepath.Dir(path), mode)
	if err != nil {
		return initFault(err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".init-*.toml")
	if err != nil {
		return initFault(err)
	}
	defer os.Remove(temp.Name())
	_, err = io.WriteString(temp, text)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err != nil {
		return initFault(err)
	}
	if _, err := profile.Load(temp.Name(), profile.Options{Dir: filepath.Dir(path), Embedded: profiles.FS, Env: f.env}); err != nil {
		return initRefused(err)
	}
	if f.force {
		err = os.Rename(temp.Name(), path)
	} else {
		err = os.Link(temp.Name(), path) // and never over a file that came meanwhile
	}
	if err != nil {
		return initFault(err)
	}
	return nil
}

func initFault(err error) *fault {
	return faultf(exitUsage, "INIT", "tureen doctor shows which directories can be written", "write the profile: %v", err)
}

// initRefused blames what the profile was filled with.
func initRefused(err error) error {
	var problems *profile.Errors
	if !errors.As(err, &problems) {
		return err
	}
	p := problems.Problems[0]
	return usagef("mend -m or --base-url", "%s: %s", p.Key, p.Found)
}

// finish says what comes next. A project's profile that was just written, and
// extends nothing of the project, is trusted: the user made it.
func (f *first) finish(path string, p preset, chosen filled) error {
	loaded, err := f.loadProfile(path, "")
	if err != nil {
		return err
	}
	var next []string
	if len(loaded.ProjectFiles) == 1 {
		book, err := f.trustBook()
		if err != nil {
			return err
		}
		if err := book.Add(loaded); err != nil {
			return trustFault(err)
		}
	} else if loaded.Project {
		next = append(next, "tureen profile trust "+f.name)
	}
	if p.keyEnv != "" && f.env(p.keyEnv) == "" {
		next = append(next, "export "+p.keyEnv+"=…")
	}
	run := "tureen run -P " + f.name
	if p.names && chosen.model == "" {
		run += " -m MODEL"
	}
	next = append(next, "tureen doctor -P "+f.name+" --probe", run+" "+strconv.Quote("what is in this directory?"))
	return f.print(false, nil, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "wrote %s\nnext:\n  %s\n", loaded.Path, strings.Join(next, "\n  "))
		return err
	})
}
