package llm

import (
	"errors"
	"fmt"
	"time"
)

// Code classes the failure of a request (M17).
type Code string

const (
	CodeAuth           Code = "AUTH"
	CodeQuota          Code = "QUOTA"
	CodeRateLimit      Code = "RATE_LIMIT"
	CodeOverflow       Code = "CONTEXT_WINDOW_EXCEEDED"
	CodeInvalidRequest Code = "INVALID_REQUEST"
	CodeServer         Code = "SERVER"
	CodeTransport      Code = "TRANSPORT"
	CodeTimeout        Code = "TIMEOUT"
	CodeAborted        Code = "ABORTED"
	CodeEmptyResponse  Code = "EMPTY_RESPONSE"
	CodeMalformed      Code = "MALFORMED_RESPONSE"
	CodeStreamClosed   Code = "STREAM_CLOSED"
	CodeNotFound       Code = "NOT_FOUND"
)

// Error is the failure of one request.
type Error struct {
	Code       Code
	Status     int           // HTTP status, 0 where there was none
	Message    string        // what the endpoint or the adapter said; never a key
	RetryAfter time.Duration // 0 = not said
	Window     int           // the context window that an overflow names, 0 = none
	Requested  int           // the tokens of input that an overflow names, without an output cap; 0 = none
	Hint       string        // the next thing to do, for a person
	Err        error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model request failed: %s (HTTP %d): %s", e.Code, e.Status, e.Message)
	}
	return fmt.Sprintf("model request failed: %s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable tells whether the same request may be sent again (M18).
func (e *Error) Retryable() bool {
	switch e.Code {
	case CodeEmptyResponse, CodeRateLimit, CodeServer, CodeTimeout, CodeTransport, CodeStreamClosed, CodeMalformed:
		return true
	}
	return false
}

// CodeOf returns the code of the *Error in err's chain, "" if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
