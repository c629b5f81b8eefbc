package pluginhost

import (
	"context"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// watchHealth ends a process that does not answer while nothing is asked of it.
func (g *generation) watchHealth() {
	d := g.inst.deadlines()
	health := grpc_health_v1.NewHealthClient(g.conn)
	ticks := time.NewTicker(d.HealthEvery)
	defer ticks.Stop()
	for missed := 0; missed < 2; {
		select {
		case <-g.proc.exited:
			return
		case <-ticks.C:
		}
		if g.calls.Load() > 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), d.Health)
		_, err := health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName})
		cancel()
		if missed++; err == nil {
			missed = 0
		}
	}
	g.kill("it did not answer two health checks")
}
