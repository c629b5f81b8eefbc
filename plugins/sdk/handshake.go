package sdk

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// The handshake of protocol version 1, and the sizes that hold for it. They are
// part of the wire contract in proto/README.md.
const (
	// CookieKey is the environment variable that tells a plugin that a host
	// started it, CookieValue its value.
	CookieKey   = "TUREEN_PLUGIN"
	CookieValue = "tureen-plugin-1"
	// ProtocolVersion is the major version of the proto package.
	ProtocolVersion = 1
	// ProtocolMinor counts the additions to it.
	ProtocolMinor = 0
	// MaxMessage is the most bytes that either side receives in one message.
	MaxMessage = 4 << 20
	// SendLimit is the most that we send, so that the error is a readable one.
	SendLimit = 3584 << 10

	pageBytes    = 512 << 10 // default size of a page
	maxPageBytes = 2 << 20   // and the most that a reader may ask for
)

// Metadata keys of the calls that a plugin makes.
const (
	metaAuthorization = "authorization"
	metaInvocation    = "tureen-invocation"
)

// Handshake is what both sides hand to go-plugin.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

// PluginSet is the set of this protocol version. Its services are reached
// through the connection, not through go-plugin's dispenser.
func PluginSet() goplugin.PluginSet { return goplugin.PluginSet{"tureen": &wirePlugin{}} }

type wirePlugin struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (*wirePlugin) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (*wirePlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}
