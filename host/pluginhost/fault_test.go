package pluginhost_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// faultEnv turns the test binary into a plugin with the fault that it names,
// hostEnv into a host of such plugins.
const (
	faultEnv = "TEST_FAULT"
	hostEnv  = "TEST_HOST"
	nameEnv  = "TEST_NAME" // what it calls itself, "" = fault
	wordEnv  = "TEST_WORD" // the file that it leaves in good order
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(faultEnv) != "":
		runFault(os.Getenv(faultEnv))
	case os.Getenv(hostEnv) != "":
		runHost()
	default:
		os.Exit(m.Run())
	}
}

// runFault misbehaves before the handshake where the fault is of that kind, and
// serves faultPlugin otherwise.
func runFault(fault string) {
	printAndHang := func(line string) {
		fmt.Println(line)
		time.Sleep(time.Hour)
	}
	switch fault {
	case "silent":
		time.Sleep(time.Hour)
	case "banner":
		fmt.Println("Welcome to my plugin!")
	case "version":
		printAndHang("1|7|unix|/tmp/nothing|grpc")
	case "tcp":
		printAndHang("1|1|tcp|127.0.0.1:1|grpc")
	case "outside":
		printAndHang("1|1|unix|/tmp/nothing|grpc")
	case "netrpc":
		printAndHang("1|1|unix|" + os.Getenv("PLUGIN_UNIX_SOCKET_DIR") + "/s|netrpc")
	case "longline":
		printAndHang(strings.Repeat("x", 1<<20))
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence for today")
		os.Exit(3)
	case "nocookie":
		os.Unsetenv(sdk.CookieKey)
	case "slow":
		time.Sleep(300 * time.Millisecond)
	case "stubborn", "huge":
		serveRaw(fault)
	case "flood":
		os.Stderr.WriteString(strings.Repeat("e", 400<<10) + "\n" + strings.Repeat("f", 400<<10) + "\n")
	}
	sdk.Serve(faultPlugin(fault))
}

// serveRaw serves without the SDK's manners: it never ends by itself, and with
// "huge" its replies are over every limit.
func serveRaw(fault string) {
	signal.Ignore(syscall.SIGTERM)
	server, err := sdk.NewServer(faultPlugin(fault), slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: sdk.Handshake(), Plugins: sdk.PluginSet(),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			if fault == "huge" {
				opts = append(opts, grpc.ChainStreamInterceptor(inflate))
			}
			return server.GRPCServer(opts)
		},
	})
	time.Sleep(time.Hour)
}

func inflate(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	return next(srv, inflated{stream})
}

type inflated struct{ grpc.ServerStream }

func (s inflated) SendMsg(m any) error {
	if r, ok := m.(*pluginv1.CallToolResponse); ok && r.GetResult().GetText() == "huge" {
		r.GetResult().Text = strings.Repeat("x", 5<<20)
	}
	return s.ServerStream.SendMsg(m)
}

// faultPlugin offers every role; the fault says what goes wrong in it.
func faultPlugin(fault string) sdk.Plugin {
	p := sdk.Plugin{
		Name: cmp.Or(os.Getenv(nameEnv), "fault"), Version: "1",
		Roles:        []sdk.Role{sdk.RoleTools, sdk.RoleStrategy, sdk.RoleHooks},
		Capabilities: []sdk.Capability{sdk.CapSessionRead, sdk.CapModelGenerate},
		HookPoints:   []hook.Point{hook.BeforeStep, hook.TurnEnded},
		ConfigSchema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
			"limit":{"type":"integer","minimum":1},"mode":{"enum":["fast","slow"]},
			"nested":{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string"}}}}}`),
	}
	p.Start = func(_ context.Context, init sdk.Init) (sdk.Services, error) {
		if fault == "start" {
			return sdk.Services{}, &sdk.Error{Code: sdk.CodeConfigInvalid, Message: "the moon is in the wrong phase"}
		}
		if fault == "initexit" {
			fmt.Fprintln(os.Stderr, "lost my keys")
			os.Exit(5)
		}
		init.Logger.Warn("started", "secret", init.Secrets["PASS"])
		f := &faulty{fault: fault, init: init}
		return sdk.Services{Tools: f, Strategy: f, Hooks: f, Sessions: &listener{f}, Close: leaveWord}, nil
	}
	return p
}

// leaveWord shows that the plugin ended in good order.
func leaveWord() {
	if path := os.Getenv(wordEnv); path != "" {
		_ = os.WriteFile(path, []byte("goodbye"), 0o600)
	}
}

type faulty struct {
	fault string
	init  sdk.Init
	heard []string
}

func (*faulty) Name() string { return "fault" }

func (*faulty) Tools(context.Context, string) ([]tool.Spec, error) {
	return []tool.Spec{{Name: "do", Description: "does", Schema: json.RawMessage(`{"type":"object"}`), Parallel: true}}, nil
}

// Call does what the arguments say.
func (f *faulty) Call(ctx context.Context, call tool.Call, progress func(string)) (tool.Result, error) {
	var in struct{ What, Text string }
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return tool.Result{}, err
	}
	text := func(s string) (tool.Result, error) { return tool.Result{Text: s}, nil }
	switch in.What {
	case "echo":
		progress("half")
		return text(in.Text)
	case "huge":
		return text("huge")
	case "pid":
		return text(fmt.Sprint(os.Getpid()))
	case "env":
		return text(strings.Join(os.Environ(), "\n"))
	case "where":
		dir, _ := os.Getwd()
		return text(dir)
	case "heard":
		return text(strings.Join(f.heard, ", "))
	case "granted":
		return text(fmt.Sprint(f.init.Granted, len(f.init.Secrets), f.init.Generation, f.init.NotesHome))
	case "child": // in the plugin's group, deaf to SIGTERM
		child := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 3600 & wait; sleep 3600")
		if err := child.Start(); err != nil {
			return tool.Result{}, err
		}
		return text(fmt.Sprint(child.Process.Pid))
	case "print":
		line := append([]byte(strings.Repeat("p", 400<<10)), '\n')
		fmt.Print(string(line)) // ends on stderr
		_, err := syscall.Write(1, line)
		return tool.Result{Text: "printed"}, err
	case "exit":
		fmt.Fprintln(os.Stderr, "cannot go on")
		os.Exit(9)
	case "panic":
		panic("boom")
	case "crash":
		go func() { panic("elsewhere") }()
		select {}
	case "hang":
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	case "stop":
		return tool.Result{}, syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "generate":
		answer, err := f.init.Host.Session(call.Session).Generate(context.WithoutCancel(ctx), session.Generate{})
		if err != nil {
			return tool.Result{}, err
		}
		return text(answer.Message.Text())
	}
	return tool.Failed("UNKNOWN", "unknown "+in.What), nil
}

func (f *faulty) Open(_ context.Context, s compaction.Session) (compaction.Opening, error) {
	f.heard = append(f.heard, "strategy "+s.ID)
	return compaction.Opening{Sections: []compaction.Section{{ID: "x", Text: "y"}}}, nil
}

func (f *faulty) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	switch f.fault {
	case "exitpropose":
		os.Exit(6)
	case "dumb":
		<-ctx.Done()
		return compaction.Proposal{}, ctx.Err()
	case "thinking":
		_, err := in.Access.Generate(ctx, session.Generate{Append: []*llm.Message{llm.Text(llm.RoleUser, "think")}})
		return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindSummary, Boot: "thought"}, err
	}
	return compaction.Proposal{Revision: in.Revision}, nil
}

// listener hears of sessions.
type listener struct{ f *faulty }

func (l *listener) Open(_ context.Context, s compaction.Session) error {
	l.f.heard = append(l.f.heard, "open "+s.ID)
	return nil
}
func (l *listener) Close(_ context.Context, id string) { l.f.heard = append(l.f.heard, "close "+id) }

func (*faulty) Points() []hook.Point { return nil }
func (*faulty) OnFailure() string    { return "" }

func (f *faulty) BeforeStep(context.Context, hook.Where, []hook.Pending) (hook.StepDecision, error) {
	if f.fault == "hookexit" && f.init.Generation == 1 {
		os.Exit(7)
	}
	return hook.StepDecision{Inject: []string{fmt.Sprint("generation ", f.init.Generation)}}, nil
}
func (f *faulty) TurnEnded(context.Context, hook.Where, session.TurnEnded) error {
	if f.fault == "hookexit" && f.init.Generation == 2 {
		os.Exit(7)
	}
	return nil
}
func (*faulty) BeforeTool(context.Context, hook.Where, hook.ToolCall) (hook.ToolDecision, error) {
	panic("not declared")
}
func (*faulty) AfterTool(context.Context, hook.Where, hook.ToolOutcome) (hook.OutcomeDecision, error) {
	panic("not declared")
}
func (*faulty) TurnStopping(context.Context, hook.Where) (hook.StopDecision, error) {
	panic("not declared")
}
func (*faulty) RequestFailed(context.Context, hook.Where, session.Failure, int) (hook.FailedDecision, error) {
	panic("not declared")
}
func (*faulty) Idle(context.Context, hook.Where) (hook.IdleDecision, error) { panic("not declared") }
