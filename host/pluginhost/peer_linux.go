package pluginhost

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sameUser tells whether the other end of a socket is a process of our user.
func sameUser(conn net.Conn) bool {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return false
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return err == nil && credErr == nil && int(cred.Uid) == os.Getuid()
}
