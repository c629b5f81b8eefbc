package sdk

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime/debug"

	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

type invocationKey struct{}

// Invocation returns the id of the request under way, on either side of the
// boundary, "" outside of one. Host calls made with ctx are charged to it and
// end with it.
func Invocation(ctx context.Context) string {
	id, _ := ctx.Value(invocationKey{}).(string)
	return id
}

func withInvocation(ctx context.Context, id string) context.Context {
	if id == "" {
		return ctx
	}
	return context.WithValue(ctx, invocationKey{}, id)
}

// newCall begins a request of the host.
func newCall(ctx context.Context, session string, turn, step int) (context.Context, *pluginv1.CallContext) {
	id := rand.Text()
	return withInvocation(ctx, id), &pluginv1.CallContext{
		Session: session, Turn: int32(turn), Step: int32(step), InvocationId: id, Attempt: 1,
	}
}

func panicError(r any) *Error {
	return &Error{
		Code:    CodePanic,
		Message: fmt.Sprintf("the plugin panicked: %v", r),
		Detail:  string(debug.Stack()),
	}
}
