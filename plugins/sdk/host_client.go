package sdk

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// hostClient is the Host of a plugin process.
type hostClient struct {
	conn     *grpc.ClientConn
	cancel   context.CancelFunc // ends Attach
	session  pluginv1.SessionClient
	model    pluginv1.ModelClient
	records  pluginv1.RecordsClient
	user     pluginv1.UserClient
	children pluginv1.ChildrenClient
}

// dialHost opens the life line and waits for the host's hello; gone is called
// when the line ends.
func dialHost(ctx context.Context, address, token string, gone func()) (*hostClient, error) {
	conn, err := grpc.NewClient("unix:"+address,
		grpc.WithAuthority("localhost"),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithIdleTimeout(0),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage)),
		grpc.WithChainUnaryInterceptor(hostUnary(token)),
		grpc.WithChainStreamInterceptor(hostStream(token)),
	)
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel) // the hello must come while Initialize lasts
	attach, err := pluginv1.NewControlClient(conn).Attach(life, &pluginv1.AttachRequest{})
	if err == nil {
		_, err = attach.Recv()
	}
	if err == nil && !stop() {
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, errors.Join(err, conn.Close())
	}
	go func() {
		for {
			if _, err := attach.Recv(); err != nil {
				gone()
				return
			}
		}
	}()
	return &hostClient{
		conn: conn, cancel: cancel,
		session: pluginv1.NewSessionClient(conn), model: pluginv1.NewModelClient(conn), records: pluginv1.NewRecordsClient(conn),
		user: pluginv1.NewUserClient(conn), children: pluginv1.NewChildrenClient(conn),
	}, nil
}

func (h *hostClient) close() {
	h.cancel()
	_ = h.conn.Close() // nothing is left to lose
}

// Session lends the access to one session that is open in this plugin.
func (h *hostClient) Session(id string) session.Access { return h.access(id) }

func (h *hostClient) access(id string) *remoteAccess { return &remoteAccess{h: h, id: id} }

func authorised(ctx context.Context, token string) context.Context {
	pairs := []string{metaAuthorization, "Bearer " + token}
	if id := Invocation(ctx); id != "" {
		pairs = append(pairs, metaInvocation, id)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

func hostUnary(token string) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if err := checkSize(method, req); err != nil {
			return err
		}
		return invoke(authorised(ctx, token), method, req, reply, cc, opts...)
	}
}

func hostStream(token string) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		return open(authorised(ctx, token), desc, cc, method, opts...)
	}
}

// hostError maps what a call to the host came back with to what callers branch on.
func hostError(method string, err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	var kind error
	switch s.Code() {
	case codes.Canceled:
		kind = context.Canceled
	case codes.DeadlineExceeded:
		kind = context.DeadlineExceeded
	case codes.PermissionDenied:
		kind = ErrDenied
	case codes.NotFound:
		kind = session.ErrNotFound
	case codes.Aborted, codes.FailedPrecondition:
		kind = session.ErrConflict
	case codes.ResourceExhausted:
		return &Error{Code: CodeTooBig, Message: method + ": " + s.Message()}
	default:
		return &Error{Code: CodeProtocol, Message: fmt.Sprintf("%s failed with %s: %s", method, s.Code(), s.Message())}
	}
	return fmt.Errorf("%s: %s: %w", method, s.Message(), kind)
}
