package sdk

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tureen-host/tureen/host/llm"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Codes of an Error that this package makes itself. Plugins may use their own.
const (
	CodeFailed        = "FAILED"            // an error without a code
	CodePanic         = "PANIC"             // the author's code panicked
	CodeConfigInvalid = "CONFIG_INVALID"    // Start did not like the config
	CodeTooBig        = "TOO_BIG"           // over the message limit
	CodeProtocol      = "PROTOCOL"          // one side broke the wire contract
	CodeCancelled     = "CANCELLED"         // is context.Canceled
	CodeTimeout       = "DEADLINE_EXCEEDED" // is context.DeadlineExceeded
)

// Error is a failure as it crosses the process boundary: a normal outcome of a
// call. Return one where a code matters; other errors travel as CodeFailed.
type Error struct {
	Code      string
	Message   string // may be shown to the user and the model
	Detail    string // for the log only
	Retryable bool
	Field     string // JSON pointer, where one field is to blame
}

func (e *Error) Error() string { return e.Message }

// Is lets a context's error stay one across the wire.
func (e *Error) Is(target error) bool {
	return (e.Code == CodeCancelled && target == context.Canceled) || (e.Code == CodeTimeout && target == context.DeadlineExceeded)
}

// BadConfig says that err is about the config that Start was given: the profile is to
// be mended, not the plugin. nil stays nil.
func BadConfig(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: CodeConfigInvalid, Message: err.Error()}
}

var (
	// ErrExited: the process ended, or is not up again yet; see ExitedError.
	ErrExited = errors.New("plugin: the process has ended")
	// ErrDisabled: the process ended so often that it is not started any more.
	ErrDisabled = errors.New("plugin: disabled")
	// ErrDenied: the host did not grant the capability that the call needs.
	ErrDenied = errors.New("plugin: capability not granted")
)

// ExitedError tells which process is gone. It is ErrExited, and ErrDisabled
// where Disabled is set.
type ExitedError struct {
	Plugin     string
	Generation int // from 1
	Detail     string
	Disabled   bool
}

func (e *ExitedError) Error() string {
	what := "ended"
	if e.Disabled {
		what = "is disabled"
	}
	text := fmt.Sprintf("the process of plugin %q %s (generation %d)", e.Plugin, what, e.Generation)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func (e *ExitedError) Is(target error) bool {
	return target == ErrExited || (target == ErrDisabled && e.Disabled)
}

// errorLimit cuts a message or a detail that would not fit the wire.
const errorLimit = 64 << 10

func short(text string) string {
	if len(text) > errorLimit {
		text = text[:errorLimit] + " …(cut)"
	}
	return valid(text)
}

func errorTo(err error) *pluginv1.PluginError {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		// err.Error and not own.Message: what the wrapping says counts too
		return &pluginv1.PluginError{Code: own.Code, Message: short(err.Error()), Detail: short(own.Detail), Retryable: own.Retryable, Field: own.Field}
	}
	var model *llm.Error
	if errors.As(err, &model) {
		return &pluginv1.PluginError{Code: string(model.Code), Message: short(model.Message), Detail: short(err.Error()), Retryable: model.Retryable()}
	}
	code := CodeFailed
	switch {
	case errors.Is(err, context.Canceled):
		code = CodeCancelled
	case errors.Is(err, context.DeadlineExceeded):
		code = CodeTimeout
	}
	return &pluginv1.PluginError{Code: code, Message: short(err.Error())}
}

func errorFrom(e *pluginv1.PluginError) error {
	if e == nil {
		return nil
	}
	own := &Error{Code: e.GetCode(), Message: e.GetMessage(), Detail: e.GetDetail(), Retryable: e.GetRetryable(), Field: e.GetField()}
	if own.Code == "" {
		own.Code = CodeFailed
	}
	if own.Message == "" {
		own.Message = "failed with code " + own.Code + " and no message"
	}
	return own
}

// statusError maps what a call to a plugin came back with, once, to what
// callers branch on. An error that is no gRPC status passes.
func statusError(plugin, method string, err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	switch s.Code() {
	case codes.Canceled:
		return fmt.Errorf("plugin %q: %s was cancelled: %w", plugin, method, context.Canceled)
	case codes.DeadlineExceeded:
		return fmt.Errorf("plugin %q: %s did not answer in time: %w", plugin, method, context.DeadlineExceeded)
	case codes.Unavailable:
		return &ExitedError{Plugin: plugin, Detail: s.Message()}
	case codes.ResourceExhausted:
		return &Error{Code: CodeTooBig, Message: fmt.Sprintf("plugin %q: %s: a message is over the limit: %s", plugin, method, s.Message())}
	case codes.Unimplemented:
		return &Error{Code: CodeProtocol, Message: fmt.Sprintf("plugin %q declares a role but does not serve %s: %s", plugin, method, s.Message())}
	}
	return &Error{Code: CodeProtocol, Message: fmt.Sprintf("plugin %q: %s failed with %s: %s", plugin, method, s.Code(), s.Message())}
}

// protect runs an author's code; a panic becomes an error.
func protect[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError(r)
		}
	}()
	return f()
}
