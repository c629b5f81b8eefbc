package sdk_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// A text of any length arrives as it was sent, up to what the host takes; of a longer
// one start and end do, with what is missing between them.
func TestW1_C153_ALongTextCrossesTheWireInPieces(t *testing.T) {
	t.Parallel()
	const sign = "é漢🙂."
	long := func(size int) string {
		return strings.Repeat(sign, size/len(sign)) + strings.Repeat("x", size%len(sign))
	}
	texts := map[string]string{
		"none": "", "short": "short", "one": long(1 << 20), "more": long(1<<20 + 1), "message": long(5 << 20), "thirty": long(30 << 20), "most": long(sdk.MaxText),
		"over": long(sdk.MaxText + 3), "far": long(sdk.MaxText + 9<<20), "bytes": strings.Repeat("bad\xff", 1<<20),
	}
	p := plugintest.Run(t, serves(sdk.Services{Tools: toolFunc(func(_ context.Context, c tool.Call, progress func(string)) (tool.Result, error) {
		progress("on it")
		return tool.Result{Text: texts[c.Name], IsError: true, Note: "n", LeftOut: 7}, nil
	})}, sdk.RoleTools), plugintest.Host{})
	for name, text := range texts {
		r, err := p.Tools().Call(t.Context(), tool.Call{Session: "s", Name: name}, nil)
		if err != nil || !r.IsError || r.Note != "n" || !utf8.ValidString(r.Text) {
			t.Errorf("%s: %v, error %v", name, r.Note, err)
			continue
		}
		want := strings.ToValidUTF8(text, "\uFFFD")
		if len(text) <= sdk.MaxText {
			if r.Text != want || r.LeftOut != 7 {
				t.Errorf("%s: %d bytes of %d, %d left out", name, len(r.Text), len(want), r.LeftOut)
			}
			continue
		}
		cutShort(t, name, r, want, 7)
	}
}

// cutShort holds a result against the text that it is start and end of.
func cutShort(t *testing.T, name string, r tool.Result, text string, before int64) {
	t.Helper()
	head, rest, _ := strings.Cut(r.Text, "\n[... ")
	_, tail, found := strings.Cut(rest, " ...]\n")
	missing := int64(len(text) - len(head) - len(tail))
	if !found || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || r.LeftOut != before+missing || min(len(head), len(tail)) < sdk.MaxText/2-150 {
		t.Errorf("%s: %d bytes of start, %d of end; %d are missing, %d are said to be", name, len(head), len(tail), missing, r.LeftOut-before)
	}
}

// rawTools is a plugin that speaks the wire itself.
type rawTools struct {
	pluginv1.UnimplementedToolsServer
	call func(string, grpc.ServerStreamingServer[pluginv1.CallToolResponse]) error
}

func (r rawTools) CallTool(req *pluginv1.CallToolRequest, stream grpc.ServerStreamingServer[pluginv1.CallToolResponse]) error {
	return r.call(req.GetName(), stream)
}

// speaksItself serves a plugin that does what call does.
func speaksItself(t *testing.T, call func(string, grpc.ServerStreamingServer[pluginv1.CallToolResponse]) error) (tool.Provider, *grpc.Server) {
	t.Helper()
	server := grpc.NewServer()
	pluginv1.RegisterToolsServer(server, rawTools{call: call})
	address := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	conn, err := grpc.NewClient("unix:"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); server.Stop() })
	return sdk.NewRemote(conn, "raw").Tools(), server
}

func say(stream grpc.ServerStreamingServer[pluginv1.CallToolResponse], text string) error {
	return stream.Send(&pluginv1.CallToolResponse{Message: &pluginv1.CallToolResponse_Text{Text: text}})
}

func conclude(stream grpc.ServerStreamingServer[pluginv1.CallToolResponse], text string, leftOut int64) error {
	return stream.Send(&pluginv1.CallToolResponse{Message: &pluginv1.CallToolResponse_Result{Result: &pluginv1.ToolResult{Text: text, LeftOut: leftOut}}})
}

func TestW1_C153_HostilePieces(t *testing.T) {
	t.Parallel()
	block := strings.Repeat("漢", 1<<20)
	var sent, ended atomic.Int64
	p, server := speaksItself(t, func(name string, stream grpc.ServerStreamingServer[pluginv1.CallToolResponse]) error {
		switch name {
		case "tiny": // a byte a message
			for range 20_000 {
				if err := say(stream, "x"); err != nil {
					return err
				}
			}
			return conclude(stream, "end", -5)
		case "long": // more than the host takes, cut through characters
			for range 30 {
				if err := say(stream, block); err != nil {
					return err
				}
			}
			return conclude(stream, "end", 0)
		case "failing":
			_ = say(stream, block)
			return stream.Send(&pluginv1.CallToolResponse{Message: &pluginv1.CallToolResponse_Error{Error: &pluginv1.PluginError{Code: "NO", Message: "no"}}})
		case "silent":
			return say(stream, block)
		case "dying":
			_ = say(stream, block)
			return status.Error(codes.Unavailable, "gone")
		case "invalid":
			return say(stream, "caf\xe9")
		}
		defer ended.Add(1)
		for { // without end
			if err := say(stream, block); err != nil {
				return err
			}
			sent.Add(int64(len(block)))
		}
	})
	call := func(name string) (tool.Result, error) {
		return p.Call(t.Context(), tool.Call{Session: "s", Name: name}, nil)
	}
	if r, err := call("tiny"); err != nil || r.Text != strings.Repeat("x", 20_000)+"end" || r.LeftOut != 0 {
		t.Errorf("tiny: %d bytes, %d left out, error %v", len(r.Text), r.LeftOut, err)
	}
	r, err := call("long")
	if err != nil {
		t.Fatal(err)
	}
	cutShort(t, "long", r, strings.Repeat(block, 30)+"end", 0)
	r = tool.Result{}
	for name, want := range map[string]string{"failing": "no", "silent": "ended without a result", "dying": "ended", "invalid": "failed with", "endless": "sent over 128 MiB of text and no result"} {
		if r, err := call(name); err == nil || !strings.Contains(err.Error(), want) || r.Text != "" {
			t.Errorf("%s: %d bytes, error %v", name, len(r.Text), err)
		}
	}
	stopped(t, &ended, 1)
	if n := sent.Load(); n > 256<<20 {
		t.Errorf("a plugin without end could send %d bytes", n)
	}

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for before := sent.Load(); sent.Load() < before+10<<20; {
			runtime.Gosched()
		}
		cancel()
	}()
	if _, err := p.Call(ctx, tool.Call{Session: "s", Name: "endless"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in the middle: %v", err)
	}
	stopped(t, &ended, 2)
	go func() {
		for before := sent.Load(); sent.Load() < before+10<<20; {
			runtime.Gosched()
		}
		server.Stop()
	}()
	if _, err := call("endless"); !errors.Is(err, sdk.ErrExited) {
		t.Errorf("the plugin died in the middle: %v", err)
	}
}

// stopped waits until so many endless calls have come to their end.
func stopped(t *testing.T, ended *atomic.Int64, want int64) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ended.Load() < want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the plugin was not stopped")
		}
	}
}

// What the host holds of an endless text is bounded, however small the pieces.
func TestW1_C153_PiecesTakeBoundedMemory(t *testing.T) {
	var most atomic.Uint64
	block := strings.Repeat("x", 1<<20)
	p, _ := speaksItself(t, func(_ string, stream grpc.ServerStreamingServer[pluginv1.CallToolResponse]) error {
		for i := range 120 {
			if err := say(stream, block); err != nil {
				return err
			}
			if i%20 == 0 {
				var now runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&now)
				most.Store(max(most.Load(), now.HeapAlloc))
			}
		}
		return conclude(stream, "", 0)
	})
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := p.Call(t.Context(), tool.Call{Session: "s", Name: "long"}, nil)
	if err != nil || r.LeftOut < 120<<20-64<<20 || r.LeftOut > 120<<20-64<<20+300 {
		t.Errorf("%d bytes left out, error %v", r.LeftOut, err)
	}
	if held := int64(most.Load()) - int64(before.HeapAlloc); held > 90<<20 {
		t.Errorf("%d MiB were held of 120", held>>20)
	}
}
