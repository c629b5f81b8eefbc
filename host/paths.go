package host

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// Paths are the folders of this user. Each is absolute.
type Paths struct {
	Data   string `json:"data"`   // sessions; TUREEN_DATA_DIR, else XDG data
	Config string `json:"config"` // settings and profiles; TUREEN_CONFIG_DIR, else XDG config
	Notes  string `json:"notes"`  // TUREEN_NOTES_HOME, else settings, else ~/.agents/notes
}

// FindPaths resolves the folders. notesHome is what the user's settings say, ""
// for nothing; the environment wins.
func FindPaths(env func(string) string, notesHome string) (Paths, error) {
	home := env("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	var p Paths
	for _, f := range []struct {
		to       *string
		variable string
		fallback string
	}{
		{&p.Data, "TUREEN_DATA_DIR", filepath.Join(xdg.DataHome, "tureen")},
		{&p.Config, "TUREEN_CONFIG_DIR", filepath.Join(xdg.ConfigHome, "tureen")},
		{&p.Notes, "TUREEN_NOTES_HOME", orElse(notesHome, filepath.Join(home, ".agents", "notes"))},
	} {
		abs, err := filepath.Abs(orElse(env(f.variable), f.fallback))
		if err != nil {
			return p, fmt.Errorf("resolve %s: %w", f.variable, err)
		}
		*f.to = abs
	}
	return p, nil
}

func orElse(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}
