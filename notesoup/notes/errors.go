package notes

import (
	"errors"
	"fmt"
)

// Code classes a refusal. Codes are shown to the model and never change.
type Code string

const (
	CodeAddress   Code = "E_ADDRESS"   // the address breaks the grammar
	CodeHome      Code = "E_HOME"      // no such home, or none in this session
	CodeReadOnly  Code = "E_READONLY"  // the home may not be written
	CodeNotFound  Code = "E_NOT_FOUND" // no such note
	CodeExists    Code = "E_EXISTS"    // the note exists already
	CodeRev       Code = "E_REV"       // the revision is missing or not the current one
	CodeNoMatch   Code = "E_NO_MATCH"  // the text to replace is not there
	CodeAmbiguous Code = "E_AMBIGUOUS" // the text to replace is there more than once
	CodeTooLarge  Code = "E_TOO_LARGE" // over a limit
	CodeBinary    Code = "E_BINARY"    // not UTF-8 text
	CodeLink      Code = "E_LINK"      // a link or a special file
	CodeBusy      Code = "E_BUSY"      // somebody else holds the home
	CodeBudget    Code = "E_BUDGET"    // no room left for a page
	CodeCursor    Code = "E_CURSOR"    // the cursor does not fit
	CodeIO        Code = "E_IO"        // the storage failed; never the same as empty
	CodeAborted   Code = "E_ABORTED"   // cancelled
)

// Error is a refusal: one sentence and one next action.
type Error struct {
	Code    Code
	Message string
	Next    string
	Err     error
}

func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Message
	if e.Next != "" {
		text += "; next: " + e.Next
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the Code in err's chain, "" if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Refuse makes an *Error.
func Refuse(code Code, next, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Next: next}
}
