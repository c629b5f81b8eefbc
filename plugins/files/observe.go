package files

import (
	"context"
	"crypto/sha256"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// version tells one state of a file from another. The hash decides where the
// whole content was read; size and modification time do otherwise.
type version struct {
	size  int64
	mtime time.Time
	hash  [sha256.Size]byte
	whole bool
}

func versionOf(info fs.FileInfo, data []byte) version {
	return version{info.Size(), info.ModTime(), sha256.Sum256(data), true}
}

// observations remembers, per session, the version in which each file was last
// read, written or edited (C18). They live in memory only: after a restart every
// file has to be read again (R2). Files go by their path without symlinks.
type observations struct {
	mu       sync.Mutex
	versions map[string]map[string]version
}

func (o *observations) put(session, file string, v version) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.versions == nil {
		o.versions = map[string]map[string]version{}
	}
	if o.versions[session] == nil {
		o.versions[session] = map[string]version{}
	}
	o.versions[session][file] = v
}

func (o *observations) get(session, file string) (version, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v, ok := o.versions[session][file]
	return v, ok
}

func (o *observations) drop(session string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.versions, session)
}

// Errors of a modification that the observations do not allow (T11).
func notRead(path string) error {
	return toolcall.Errorf("FILE_NOT_READ", "cannot modify %q: file has not been read; read it first, then repeat this call", path)
}

func changed(verb, path string) error {
	return toolcall.Errorf("FILE_CHANGED", "cannot %s %q: file changed since it was read; read it again, then repeat this call", verb, path)
}

// unchanged tells whether a file is still in version v. It reads the file where
// only its content can tell.
func unchanged(ctx context.Context, file string, v version, now fs.FileInfo) (bool, error) {
	if now.Size() != v.size {
		return false, nil
	}
	if !v.whole {
		return now.ModTime().Equal(v.mtime), nil
	}
	f, _, err := toolcall.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, toolcall.Reader(ctx, f)); err != nil {
		return false, err
	}
	return [sha256.Size]byte(sum.Sum(nil)) == v.hash, nil
}
