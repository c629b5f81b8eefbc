package pluginhost

import (
	"fmt"
	"net"
	"path/filepath"
)

// ownListener accepts connections of our own user only.
type ownListener struct{ net.Listener }

// listen listens on a socket in the directory that only our user reaches. It fails
// where the path leads to another by now.
func (r *rootDir) listen(path string) (net.Listener, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it goes with its directory
	if err = r.check(path); err == nil {
		var inside string
		if inside, err = filepath.Rel(r.path, path); err == nil {
			err = r.root.Chmod(inside, 0o600)
		}
	}
	if err == nil {
		err = answersHere(path)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return ownListener{l}, nil
}

// answersHere fails where a socket's path leads to the socket of another process.
func answersHere(path string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer conn.Close()
	if !sameProcess(conn) {
		return fmt.Errorf("%s: another process listens there", path)
	}
	return nil
}

func (l ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || sameUser(conn) {
			return conn, err
		}
		_ = conn.Close()
	}
}
