package sdk

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// tooBig says what is wrong with a message over the limit, nil where it fits.
func tooBig(what string, m any) *Error {
	message, ok := m.(proto.Message)
	if !ok {
		return nil
	}
	size := proto.Size(message)
	if size <= SendLimit {
		return nil
	}
	return &Error{Code: CodeTooBig, Message: fmt.Sprintf(
		"%s has %.1f MiB; one message holds at most %.1f MiB: send less, or in pages", what, float64(size)/(1<<20), float64(SendLimit)/(1<<20))}
}

func checkSize(method string, m any) error {
	if err := tooBig("the message of "+method, m); err != nil {
		return status.Error(codes.ResourceExhausted, err.Message)
	}
	return nil
}
