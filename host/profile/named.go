package profile

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
)

// maxNamed bounds a file that a config names and that is trusted with the profile.
const maxNamed = 1 << 20

// named are the files that the configs in a project's profile name, such as an
// instruction for a model: they say as much as the profile does, so they are trusted
// with it. Which keys are paths only a plugin's schema tells, and that is not known
// here: every text that leads to a file counts.
func (l *loader) named(dir string, layers ...*node) []ProjectFile {
	var all []string
	for _, n := range layers {
		for _, key := range []string{"plugins", "plugin", "compaction"} {
			all = append(all, texts(n.get(key))...)
		}
	}
	slices.Sort(all)
	var files []ProjectFile
	for _, text := range slices.Compact(all) {
		if path := absolute(l.home, dir, text); text != "" && len(text) < 1024 && !strings.ContainsAny(text, "\n\x00") {
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxNamed {
				continue
			}
			if data, err := os.ReadFile(path); err == nil {
				files = append(files, ProjectFile{Path: realPath(path), SHA256: fmt.Sprintf("%x", sha256.Sum256(data))})
			}
		}
	}
	return files
}

// texts are all texts in a value but the names of programs, which may be built anew.
func texts(n *node) (all []string) {
	switch {
	case n == nil:
	case n.table != nil:
		for key, v := range n.table {
			if key != "use" && key != "strategy" {
				all = append(all, texts(v)...)
			}
		}
	case n.list != nil:
		for _, v := range n.list {
			all = append(all, texts(v)...)
		}
	default:
		all = append(all, n.text())
	}
	return all
}
