package toolcall

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// SniffBytes is how much of a file is looked at to tell text from binary (T10).
const SniffBytes = 8 << 10

// IsBinary tells whether the start of a file holds a NUL byte.
func IsBinary(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), SniffBytes)], 0) >= 0
}

// Open opens a regular file for reading. Directories, pipes, sockets and devices
// are refused without being opened, so that it never blocks on them.
func Open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = Regular(info)
	}
	if err != nil {
		return nil, nil, err
	}
	// The file may have been exchanged since: O_NONBLOCK and a second look.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = Regular(info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Regular returns an *Error that says what else the file is, nil for a regular one.
func Regular(info fs.FileInfo) error {
	kind := "special file"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &Error{"IS_DIRECTORY", "it is a directory"}
	case mode&fs.ModeNamedPipe != 0:
		kind = "named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "socket"
	case mode&fs.ModeDevice != 0:
		kind = "device"
	}
	return &Error{"NOT_REGULAR", "it is a " + kind + ", not a regular file"}
}

// Reader reads from r until ctx is done; then Read returns ctx's error.
func Reader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
