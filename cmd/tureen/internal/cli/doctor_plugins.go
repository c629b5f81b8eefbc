package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/plugins/builtin"
)

// systemPython is the one that the examples run.
const systemPython = "/usr/bin/python3"

// pythonWait bounds the look for Python.
const pythonWait = 20 * time.Second

// plugins starts each shipped plugin, and those of the profile where it may.
func (d *doctor) plugins(ctx context.Context, p *profile.Profile) {
	dir, err := pluginhost.RuntimeDir(os.Environ())
	if err != nil {
		d.failed(exitPlugin, "sockets", err)
		return // none would start
	}
	d.ok("sockets", "in %s", plain(dir))
	specs := map[string]pluginhost.Spec{}
	uses := builtin.Names()
	for _, name := range uses {
		if spec, err := pluginhost.Resolve(name, nil); err == nil {
			specs[name] = spec
		}
	}
	if p != nil {
		all, _ := pluginsOf(p) // it was checked
		for _, u := range all {
			if u.shipped == nil {
				uses, specs[u.use] = append(uses, u.use), u.spec
			}
		}
	}
	notes, clear, err := d.notesForLooking()
	if err == nil {
		defer clear()
		err = d.inspecting(ctx, notes, func(s *pluginhost.Supervisor) error {
			for _, use := range uses {
				d.plugin(ctx, s, use, specs[use])
			}
			return nil
		})
	}
	if err != nil {
		d.failed(exitPlugin, "plugins", err)
	}
	d.python(ctx)
}

// notesForLooking is the notes home, or where there is none yet an empty directory
// in its place: looking makes none.
func (d *doctor) notesForLooking() (dir string, clear func(), err error) {
	paths, err := host.FindPaths(d.env, "")
	if err != nil {
		return "", nil, err
	}
	if _, err := os.Stat(paths.Notes); err == nil {
		return paths.Notes, func() {}, nil
	}
	dir, err = os.MkdirTemp("", "tureen-doctor-")
	return dir, func() { os.RemoveAll(dir) }, err
}

func (d *doctor) plugin(ctx context.Context, s *pluginhost.Supervisor, use string, spec pluginhost.Spec) {
	began := time.Now()
	info, err := s.Inspect(ctx, spec)
	if err != nil {
		d.failed(exitPlugin, plain(use), err)
		return
	}
	d.ok(plain(use), "%s %s, answered after %d ms", plain(info.Version), joined(info.Roles), time.Since(began).Milliseconds())
}

// python looks for what plugins in Python need.
func (d *doctor) python(ctx context.Context) {
	const hint = "only plugins in Python need it: apt-get install python3-grpcio python3-protobuf"
	python, err := exec.LookPath(systemPython) // what a plugin's #! line names, whatever else comes first in PATH
	if err != nil {
		python, err = exec.LookPath("python3")
	}
	if err != nil {
		d.warn(hint, "python", "there is no python3")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pythonWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "-c", "import platform, grpc, google.protobuf as p; print(platform.python_version(), grpc.__version__, p.__version__)").Output()
	words := strings.Fields(string(out))
	if err != nil || len(words) != 3 {
		d.warn(hint, "python", "%s has no grpc and protobuf", python)
		return
	}
	d.ok("python", "%s", fmt.Sprintf("%s %s with grpc %s, protobuf %s", python, words[0], words[1], words[2]))
}
