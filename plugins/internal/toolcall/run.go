package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/tureen-host/tureen/host/tool"
)

// Error is a failure that the model may correct. Code goes to the log only.
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

// Errorf makes an *Error.
func Errorf(code, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Run decodes the arguments of a call and runs the tool's body. The text or the
// error that the body returns becomes the result, made valid UTF-8 without NUL.
// A body that returns ctx's error was aborted (T5).
func Run[A any](ctx context.Context, call tool.Call, body func(context.Context, tool.Call, A) (string, error)) tool.Result {
	var args A
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return failed("INVALID_ARGUMENTS", "invalid arguments: "+err.Error())
	}
	if ctx.Err() != nil {
		return failed("ABORTED", "tool call aborted before dispatch")
	}
	text, err := body(ctx, call, args)
	var known *Error
	switch {
	case err == nil:
		return tool.Result{Text: tool.Clean(text)}
	case errors.As(err, &known):
		return failed(known.Code, known.Message)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return failed("ABORTED", "tool call aborted")
	default:
		return failed("IO_ERROR", err.Error())
	}
}

func failed(code, message string) tool.Result { return tool.Failed(code, tool.Clean(message)) }

// Cannot makes the error `cannot VERB "PATH": CAUSE`, with the code that fits the
// cause. Where err is a context's own it is returned as it is.
func Cannot(verb, path string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	code, cause := "IO_ERROR", err.Error()
	var known *Error
	var inPath *fs.PathError
	switch {
	case errors.As(err, &known):
		code, cause = known.Code, known.Message
	case errors.Is(err, fs.ErrNotExist):
		code, cause = "NOT_FOUND", "not found"
	case errors.Is(err, fs.ErrPermission):
		code, cause = "PERMISSION_DENIED", "permission denied"
	case errors.As(err, &inPath):
		cause = inPath.Err.Error()
	}
	return Errorf(code, "cannot %s %q: %s", verb, path, cause)
}

// Int is an integer argument. JSON Schema calls 3.0 and 3e2 integers too; what
// does not fit an int is clamped.
type Int int

// UnmarshalJSON reads any JSON number; null leaves the value alone.
func (i *Int) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s is not an integer", b)
	}
	const limit = 1 << 53
	*i = Int(max(-limit, min(limit, f)))
	return nil
}
