package floor

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// payload travels in each call: as much as the arguments of a tool call.
var payload = strings.Repeat("p", 512)

// partner is another process that answers gRPC calls over a Unix socket.
type partner struct {
	cmd   *exec.Cmd
	stdin io.Closer
	conn  *grpc.ClientConn
	api   grpc_health_v1.HealthClient
}

// startPartner starts this program's Echo as a child.
func startPartner(ctx context.Context, socket string) (*partner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &partner{cmd: exec.CommandContext(ctx, self, "echo", socket)}
	p.cmd.Stderr = os.Stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("floor: start the called process: %w", err)
	}
	if _, err = bufio.NewReader(stdout).ReadString('\n'); err == nil {
		p.conn, err = grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	if err != nil {
		p.stdin.Close()
		_ = p.cmd.Wait()
		return nil, fmt.Errorf("floor: reach the called process: %w", err)
	}
	p.api = grpc_health_v1.NewHealthClient(p.conn)
	return p, nil
}

func (p *partner) call(ctx context.Context) error {
	_, err := p.api.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: payload})
	return err
}

func (p *partner) close() {
	p.conn.Close()
	p.stdin.Close()
	_ = p.cmd.Wait()
}

// Echo answers calls on a Unix socket until stdin ends. It writes a line when it
// listens.
func Echo(socket string) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("floor: %w", err)
	}
	known := health.NewServer()
	known.SetServingStatus(payload, grpc_health_v1.HealthCheckResponse_SERVING)
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, known)
	fmt.Println("listening")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.Stop()
	}()
	return server.Serve(listener)
}
