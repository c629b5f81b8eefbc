package openai

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/tureen-host/tureen/host/llm"
)

// refused makes the error of an answer with a bad status.
func (c *Client) refused(res *http.Response, call *call, model string) error {
	body, _ := io.ReadAll(res.Body) // what was read is what is known
	_ = res.Body.Close()
	wait := retryAfter(res.Header, time.Now())
	r := readReply(res.StatusCode, []byte(c.redact(string(body))))
	r.limited = wait > 0
	var e *llm.Error
	if res.StatusCode < 400 {
		e = &llm.Error{Code: llm.CodeNotFound, Status: res.StatusCode, Message: "the endpoint redirects", Hint: "set base_url to the new place"}
		if to, err := res.Location(); err == nil {
			e.Message = c.redact("the endpoint redirects to " + to.Scheme + "://" + to.Host + to.Path)
		}
		return e
	}
	e = classify(r, call.cap, c.share(call))
	e.RetryAfter = wait
	return c.hinted(e, &r, call, model)
}

// broke makes the error of an answer that began well.
func (c *Client) broke(ctx context.Context, err error, call *call, model string, a *assembly) error {
	var event *failedEvent
	var bad *malformed
	switch {
	case err == errStopped:
		return err
	case errors.As(err, &event):
		r := readReply(0, []byte(c.redact(string(event.data))))
		e := classify(r, call.cap, c.share(call))
		e.Err = nil // no remedy: deltas may be out already
		return c.hinted(e, &r, call, model)
	case errors.As(err, &bad):
		bad.data = []byte(c.redact(string(bad.data))) // before a cut could leave half a key
		r := readReply(http.StatusOK, bad.data)
		if r.html {
			e := &llm.Error{Code: llm.CodeNotFound, Status: http.StatusOK, Message: r.summary()}
			return c.hinted(e, &r, call, model)
		}
		return &llm.Error{Code: llm.CodeMalformed, Message: bad.Error(), Err: bad.err}
	case errors.Is(err, bufio.ErrTooLong):
		return &llm.Error{Code: llm.CodeMalformed, Message: fmt.Sprintf("a line of the stream is longer than %d MiB", maxDocument>>20), Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil:
		said := "nothing"
		if a.text.Len() > 0 || len(a.calls) > 0 || len(a.thoughts) > 0 {
			said = "an unfinished answer"
		}
		return &llm.Error{Code: llm.CodeStreamClosed, Message: "the stream ended without a finish reason, after " + said, Err: err}
	}
	return c.unreachable(ctx, err, c.cfg.IdleTimeout)
}

// unreachable makes the error of a connection that failed or was ended, after
// waiting for so long where its cause is errIdle.
func (c *Client) unreachable(ctx context.Context, err error, waited time.Duration) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errIdle) {
			return &llm.Error{
				Code: llm.CodeTimeout, Message: fmt.Sprintf("%s sent nothing for %v", c.base.Host, waited),
				Hint: "check that the server is alive and not still loading the model", Err: errIdle,
			}
		}
		return &llm.Error{Code: llm.CodeAborted, Message: "the request was cancelled", Err: cause}
	}
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err // the URL itself may hold a secret
	}
	return &llm.Error{
		Code: llm.CodeTransport, Message: c.redact(fmt.Sprintf("%s: %v", c.base.Host, err)),
		Hint: c.reachHint(err), Err: transportError(err),
	}
}

// transportError keeps of a cause what callers branch on; its text may hold more
// than they may see.
func transportError(err error) error {
	for _, known := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, io.EOF} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}

// share estimates which part of the window the input takes, 0 = unknown.
func (c *Client) share(call *call) float64 {
	window := c.window()
	if window == 0 {
		return 0
	}
	tokens := llm.EstimateTools(call.tools)
	for _, m := range call.messages {
		tokens += llm.Estimate(m)
	}
	return float64(tokens) / float64(window)
}

// hinted adds the next thing to do.
func (c *Client) hinted(e *llm.Error, r *reply, call *call, model string) error {
	switch e.Code {
	case llm.CodeAuth:
		e.Hint = "check the API key" + from(c.cfg.APIKeyEnv) + ": " + c.base.Host + " does not accept it"
		if c.keyless {
			e.Hint = "set the API key" + from(c.cfg.APIKeyEnv) + ": " + c.base.Host + " asks for one"
		}
	case llm.CodeQuota:
		e.Hint = "check the balance and limits of the account at " + c.base.Host
		if limit, requested := r.rate(); limit > 0 && limit < requested {
			e.Hint = fmt.Sprintf("the account may use %d tokens a minute and the request counts %d: lower max_output_tokens and the window, or raise the limit", limit, requested)
		}
	case llm.CodeRateLimit:
		e.Hint = "ask less often, or wait and go on then"
		if e.RetryAfter > 0 {
			e.Hint = fmt.Sprintf("%s asks to wait %v: go on then, or allow such a wait with retry.max_retry_after", c.base.Host, e.RetryAfter)
		}
	case llm.CodeNotFound:
		e.Hint = c.notFoundHint(r, model)
	case llm.CodeOverflow:
		if e.Window > 0 && e.Window < c.cfg.ContextWindow {
			e.Hint = fmt.Sprintf("set context_window to %d: the profile says %d", e.Window, c.cfg.ContextWindow)
		}
	case llm.CodeInvalidRequest:
		if r.status == http.StatusMethodNotAllowed || r.html {
			e.Hint = c.notFoundHint(r, model)
		} else if r.param != "" && !strings.HasPrefix(r.param, "messages") && !strings.HasPrefix(r.param, "tools") {
			e.Hint = "change or leave out " + r.param
		}
	}
	return e
}

func (c *Client) notFoundHint(r *reply, model string) string {
	base := c.redact(c.base.Scheme + "://" + c.base.Host + c.base.Path)
	switch {
	case r.html:
		return base + " is not a Chat Completions endpoint: check base_url, which mostly ends in /v1"
	case modelWords.MatchString(r.all):
		return fmt.Sprintf("check the model name %q: %s/models lists what is served", model, base)
	}
	return fmt.Sprintf("check base_url %s, which mostly ends in /v1, and the model name %q", base, model)
}

func (c *Client) reachHint(err error) string {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "is the server running at " + c.base.Host + "?"
	case errors.As(err, &dns):
		return "check the host name in base_url: " + c.base.Hostname()
	case errors.As(err, &cert), errors.As(err, &unknown):
		return "the certificate of " + c.base.Host + " is not trusted: add its authority to the system's, or check base_url"
	case errors.As(err, &plain), err != nil && err.Error() == "http: server gave HTTP response to HTTPS client":
		return "the server speaks plain http: begin base_url with http://"
	}
	return "check the network and base_url"
}
