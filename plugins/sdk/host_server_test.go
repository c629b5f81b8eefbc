package sdk_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// lent is a host's side, and where it is.
type lent struct {
	*sdk.HostServer
	address string
}

// lend serves c and dials it without any of our client's manners.
func lend(t *testing.T, c sdk.HostConfig) (lent, *grpc.ClientConn) {
	t.Helper()
	h := lent{HostServer: sdk.NewHostServer(c)}
	t.Cleanup(h.Stop)
	conn := dial(t, h)
	h.address = strings.TrimPrefix(conn.Target(), "unix:")
	return h, conn
}

// dial serves s on a socket of its own and connects to it.
func dial(t *testing.T, s interface{ Serve(net.Listener) error }) *grpc.ClientConn {
	t.Helper()
	dir, err := os.MkdirTemp("", "sdk") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	address := filepath.Join(dir, "s")
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	conn, err := grpc.NewClient("unix:"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func with(t *testing.T, pairs ...string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), pairs...)
}

func TestHostRefusesWrongTokensAndUngrantedCalls(t *testing.T) {
	t.Parallel()
	h, conn := lend(t, sdk.HostConfig{
		Token: "right", Granted: []sdk.Capability{sdk.CapSessionRead},
		Access: func(string) (session.Access, error) { return &lentSession{}, nil },
	})
	meter := func(ctx context.Context) codes.Code {
		_, err := pluginv1.NewSessionClient(conn).GetMeter(ctx, &pluginv1.GetMeterRequest{Session: "s"})
		return status.Code(err)
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		want codes.Code
	}{
		"no token":           {t.Context(), codes.Unauthenticated},
		"wrong token":        {with(t, "authorization", "Bearer wrong"), codes.Unauthenticated},
		"empty token":        {with(t, "authorization", "Bearer "), codes.Unauthenticated},
		"right token":        {with(t, "authorization", "Bearer right"), codes.OK},
		"unknown invocation": {with(t, "authorization", "Bearer right", "tureen-invocation", "x"), codes.Canceled},
	} {
		if got := meter(c.ctx); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	stream, err := pluginv1.NewControlClient(conn).Attach(with(t, "authorization", "Bearer wrong"), &pluginv1.AttachRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.Unauthenticated {
		t.Errorf("attach with a wrong token: %v", err)
	}
	select {
	case <-h.Attached():
		t.Error("a refused attach counts")
	default:
	}
	_, err = pluginv1.NewRecordsClient(conn).PutRecord(with(t, "authorization", "Bearer right"), &pluginv1.PutRecordRequest{})
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("a call without its grant: %v", err)
	}
}

func TestHostRefusesPagesThatItDidNotHandOut(t *testing.T) {
	t.Parallel()
	_, conn := lend(t, sdk.HostConfig{
		Token: "t", Granted: []sdk.Capability{sdk.CapSessionRead},
		Access: func(string) (session.Access, error) { return longOutline(3), nil },
	})
	client := pluginv1.NewSessionClient(conn)
	ctx := with(t, "authorization", "Bearer t")
	for page, want := range map[string]codes.Code{"": codes.OK, "2": codes.OK, "-1": codes.InvalidArgument, "4": codes.InvalidArgument, "x": codes.InvalidArgument} {
		if _, err := client.ReadOutline(ctx, &pluginv1.ReadOutlineRequest{Session: "s", Page: page}); status.Code(err) != want {
			t.Errorf("page %q: %v, want %s", page, err, want)
		}
	}
	if _, err := client.ReadOutline(ctx, &pluginv1.ReadOutlineRequest{Session: "s", Revision: 5}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("an old revision: %v", err)
	}
	if _, err := client.ReadPart(ctx, &pluginv1.ReadPartRequest{Session: "s", Seq: 99}); status.Code(err) != codes.NotFound {
		t.Errorf("a part of no event: %v", err)
	}
}

func TestDiagnosticsReachTheLog(t *testing.T) {
	t.Parallel()
	type line struct {
		level   slog.Level
		message string
		field   string
	}
	got := make(chan line, 2)
	_, conn := lend(t, sdk.HostConfig{Token: "t", Log: func(_ context.Context, l slog.Level, m string, f map[string]string) { got <- line{l, m, f["k"]} }})
	_, err := pluginv1.NewDiagnosticsClient(conn).Log(with(t, "authorization", "Bearer t"), &pluginv1.LogRequest{Lines: []*pluginv1.LogLine{
		{Level: "warn", Message: "w", Fields: map[string]string{"k": "v"}}, {Level: "shout", Message: "s"}}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := <-got, <-got; a != (line{slog.LevelWarn, "w", "v"}) || b != (line{slog.LevelInfo, "s", ""}) {
		t.Errorf("%v, %v", a, b)
	}
}
