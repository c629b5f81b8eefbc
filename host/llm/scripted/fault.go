package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// fault is a refusal in OpenAI's words: {"error": {message, type, param, code}}.
type fault struct {
	status  int
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// refuse makes a 400 about the part of the body that param names.
func refuse(param, code, format string, args ...any) *fault {
	f := &fault{status: http.StatusBadRequest, Type: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
	if param != "" {
		f.Param = &param
	}
	if code != "" {
		f.Code = &code
	}
	return f
}

// invalid makes a 400 whose message begins with the place of the fault.
func invalid(at, format string, args ...any) *fault {
	return refuse(at, "invalid_value", "%s: %s", at, fmt.Sprintf(format, args...))
}

func (f *fault) write(w http.ResponseWriter) {
	body, _ := json.Marshal(map[string]*fault{"error": f})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	_, _ = w.Write(body)
}

// write answers with the failure of a reply.
func (f *Failure) write(w http.ResponseWriter) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	status := f.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	if f.Body != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(f.Body))
		return
	}
	out := &fault{status: status, Message: f.Message, Type: f.Type}
	if f.Code != "" {
		out.Code = &f.Code
	}
	out.write(w)
}
