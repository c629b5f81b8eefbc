package pluginhost

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// manifestName is the file that makes a directory a plugin.
const manifestName = "plugin.toml"

// Resolve finds what the `use` of a profile means: with a "/" it is a path of an
// executable or of a directory with plugin.toml; else it is the name of a
// shipped plugin, which this program itself serves. self starts this program
// again, nil = the running executable; tests put their own binary there. The
// Spec holds Name, Argv, Env and Dir.
func Resolve(use string, self []string) (Spec, error) {
	if strings.Contains(use, "/") {
		path, err := filepath.Abs(use)
		if err != nil {
			return Spec{}, err
		}
		return fromPath(use, path)
	}
	if self == nil {
		path, err := runningFile()
		if err != nil {
			return Spec{}, err
		}
		self = []string{path}
	}
	return Spec{Name: use, Argv: append(slices.Clone(self), "plugin-serve", use)}, nil
}

// runningFile names the executable of this process; on Linux the file that is
// running, whatever has become of its path.
func runningFile() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

func fromPath(use, path string) (Spec, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Spec{}, fmt.Errorf("plugin %q: %w: check the path, and from where it is relative", use, err)
	}
	if info.IsDir() {
		return fromManifest(use, path)
	}
	if info.Mode()&0o111 == 0 {
		return Spec{}, fmt.Errorf("plugin %q: %s is not executable; run chmod +x on it", use, path)
	}
	base := filepath.Base(path)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	return Spec{Name: name, Argv: []string{path}, Dir: filepath.Dir(path)}, nil
}

// manifest is plugin.toml.
type manifest struct {
	Name string            `toml:"name"`
	Argv []string          `toml:"argv"` // a first element with a "/" is relative to the directory
	Env  map[string]string `toml:"env"`
}

func fromManifest(use, dir string) (Spec, error) {
	path := filepath.Join(dir, manifestName)
	f, err := os.Open(path)
	if err != nil {
		return Spec{}, fmt.Errorf("plugin %q is a directory without a readable %s: %w", use, manifestName, err)
	}
	defer f.Close()
	var m manifest
	if err := toml.NewDecoder(f).DisallowUnknownFields().Decode(&m); err != nil {
		return Spec{}, fmt.Errorf("%s: %w: it takes name, argv and env", path, err)
	}
	if m.Name == "" || len(m.Argv) == 0 {
		return Spec{}, fmt.Errorf("%s needs name and argv", path)
	}
	argv := slices.Clone(m.Argv)
	if strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(dir, argv[0])
	}
	env := make([]string, 0, len(m.Env))
	for name, value := range m.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return Spec{Name: m.Name, Argv: argv, Env: env, Dir: dir}, nil
}
