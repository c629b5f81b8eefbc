package pluginhost

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sameUser tells whether the other end of a socket is a process of our user.
func sameUser(conn net.Conn) bool {
	cred := peer(conn)
	return cred != nil && int(cred.Uid) == os.Getuid()
}

// sameProcess tells whether this process listens at the other end of a socket.
func sameProcess(conn net.Conn) bool {
	cred := peer(conn)
	return cred != nil && int(cred.Pid) == os.Getpid()
}

// peer is who is at the other end of a socket, nil where the kernel does not say.
func peer(conn net.Conn) *unix.Ucred {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return nil
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil || credErr != nil {
		return nil
	}
	return cred
}
