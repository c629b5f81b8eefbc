package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

// littleSpace is how much free space is worth a warning.
const littleSpace = 256 << 20

func (d *doctor) paths(ctx context.Context) {
	paths, err := host.FindPaths(d.env, "")
	if err != nil {
		d.failed(exitState, "directories", err)
		return
	}
	d.directory("sessions", paths.Data, "TUREEN_DATA_DIR", true)
	d.directory("notes", paths.Notes, "TUREEN_NOTES_HOME", true)
	d.directory("configuration", paths.Config, "TUREEN_CONFIG_DIR", false)
	d.sessions(ctx)
}

// directory looks at one that is made when it is needed. Where it is not, being
// read-only is worth a warning at most.
func (d *doctor) directory(check, path, variable string, needed bool) {
	there, note := path, ""
	for info, err := os.Stat(there); ; info, err = os.Stat(there) {
		if err == nil && !info.IsDir() {
			d.fail(exitState, "move it away, or set "+variable, check, "%s: %s is a file", plain(path), plain(there))
			return
		}
		if err == nil {
			break
		}
		if !os.IsNotExist(err) || there == filepath.Dir(there) {
			d.fail(exitState, "mend its rights, or set "+variable, check, "%s: %v", plain(path), cause(err))
			return
		}
		there, note = filepath.Dir(there), ", made when it is needed"
	}
	free, known := freeSpace(there)
	switch {
	case !writable(there) && needed:
		d.fail(exitState, "mend its rights, or set "+variable, check, "%s: %s cannot be written", plain(path), plain(there))
	case !writable(there):
		d.warn("mend its rights, or set "+variable, check, "%s: %s cannot be written: no profile can be made or trusted", plain(path), plain(there))
	case known && free < littleSpace:
		d.warn("make room", check, "%s: %s free", plain(path), size(free))
	case known:
		d.ok(check, "%s%s, %s free", plain(path), note, size(free))
	default:
		d.ok(check, "%s%s", plain(path), note)
	}
}

// sessions looks whether the stored ones read.
func (d *doctor) sessions(ctx context.Context) {
	err := d.withStore(func(s *store) error {
		list, err := s.List(ctx)
		if err != nil {
			return err
		}
		var bytes int64
		var bad []session.Summary
		for _, row := range list {
			bytes += row.Bytes
			if row.Status == "damaged" || row.Status == "newer" {
				bad = append(bad, row)
			}
		}
		if len(bad) > 0 {
			d.warn("tureen session verify "+bad[0].ID, "store", "%s, of which %d cannot be read: %s is %s", render.Count(len(list), "session"), len(bad), bad[0].ID, bad[0].Status)
			return nil
		}
		d.ok("store", "%s, %s", render.Count(len(list), "session"), size(bytes))
		return nil
	})
	if err != nil {
		d.failed(exitState, "store", err)
	}
}
