package pluginhost

import (
	"net"
	"os"
)

// ownListener accepts connections of our own user only.
type ownListener struct{ net.Listener }

// listenPrivate listens on a socket that only our user reaches.
func listenPrivate(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return ownListener{l}, nil
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
