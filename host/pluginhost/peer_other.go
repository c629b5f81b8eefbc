//go:build unix && !linux

package pluginhost

import "net"

// sameUser leaves the check to the directory's mode: 0700.
func sameUser(net.Conn) bool { return true }

// sameProcess leaves the check to the socket's file.
func sameProcess(net.Conn) bool { return true }
