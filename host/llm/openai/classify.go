package openai

import (
	"net/http"
	"strconv"
	"time"

	"github.com/tureen-host/tureen/host/llm"
)

var (
	authWords  = words(`(?i)(?:invalid|incorrect|missing|wrong)[_ ]api[_ ]key|api key (?:is )?(?:not valid|invalid|missing)|authentication_error|invalid_authentication|unauthorized`)
	quotaWords = words(`(?i)insufficient[_ ](?:quota|balance|credits?|funds)|exceeded your current quota|quota[_ ]exceeded|billing_hard_limit|billing_not_active|credit balance|out of credits|payment required`)
	rateWords  = words(`(?i)rate[_ ]?limit|too many requests|tokens per (?:min|minute|day)|requests per (?:min|minute|day)|\b[TR]P[MD]\b|resource_exhausted`)
	retryWords = words(`(?i)(?:retry|try again) in \d`)
	rateLimits = words(`(?i)limit:? (\d[\d,]*).{0,60}?requested:? (\d[\d,]*)`)
	pairWords  = words(`(?i)tool (?:call )?(?:result|id).{0,60}?(?:not follow|not found)`)
	modelWords = words(`(?i)model_not_found|model_not_available|model.{0,120}?(?:not found|not exist|not available)|(?:unknown|invalid) model\b|no such model`)
	busyWords  = words(`(?i)overloaded|server_error|internal (?:server )?error|api_error|service unavailable|temporarily unavailable|bad gateway|upstream`)
	badWords   = words(`(?i)invalid_request|bad_?request|validation|invalid_argument|unprocessable`)
)

// refusal is the reply behind an *llm.Error, for remedies. It holds no key.
type refusal struct {
	reply reply
	fit   int // an output cap that would be accepted, 0 = none known
}

func (r *refusal) Error() string { return r.reply.summary() }

// usageWords name the field that asks for usage.
var usageWords = words(`stream_options|include_usage`)

// namesUsage tells that the endpoint does not know the field.
func (r *refusal) namesUsage() bool {
	return (r.reply.status == http.StatusBadRequest || r.reply.status == http.StatusUnprocessableEntity) &&
		usageWords.MatchString(r.reply.all)
}

// classify finds the code of a reply and the sizes it names (M17). What only
// looks like an overflow is sorted out first. asked is the output cap that was
// sent; share is the estimated part of the window that the input takes, 0 =
// unknown.
func classify(r reply, asked int, share float64) *llm.Error {
	e := &llm.Error{Status: r.status, Message: r.summary()}
	o, over := findOverflow(&r)
	e.Err = &refusal{reply: r, fit: o.fit(asked)}
	if e.Code = notOverflow(&r); e.Code != "" {
		return e
	}
	switch {
	case over:
		e.Code, e.Window, e.Requested = llm.CodeOverflow, o.window, o.requested(asked)
	case r.status == http.StatusNotFound, r.refused() && modelWords.MatchString(r.all):
		e.Code = llm.CodeNotFound
	case r.status == http.StatusRequestTimeout:
		e.Code = llm.CodeTimeout
	case r.status == http.StatusRequestEntityTooLarge: // too many bytes
		e.Code = llm.CodeOverflow
	case r.status >= 500, r.status == 0 && busyWords.MatchString(r.all):
		e.Code = llm.CodeServer
	case r.unexplained() && (share > 0.9 || r.empty && share > 0.8):
		e.Code = llm.CodeOverflow
	case r.status == 0 && !badWords.MatchString(r.all): // broken off inside of a stream
		e.Code = llm.CodeServer
	default:
		e.Code = llm.CodeInvalidRequest
	}
	return e
}

// notOverflow returns the code of a reply that is certainly no overflow, else "".
func notOverflow(r *reply) llm.Code {
	switch {
	case r.status == http.StatusUnauthorized, (r.refused() || r.status == http.StatusForbidden) && authWords.MatchString(r.all):
		return llm.CodeAuth
	case r.status == http.StatusPaymentRequired:
		return llm.CodeQuota
	case (r.refused() || r.status == http.StatusForbidden || r.status == http.StatusTooManyRequests) && quotaWords.MatchString(r.all):
		if r.code != "insufficient_quota" && (r.limited || retryWords.MatchString(r.all)) {
			return llm.CodeRateLimit // a quota that fills up again
		}
		return llm.CodeQuota
	case r.status == http.StatusForbidden:
		return llm.CodeAuth
	case r.status == http.StatusTooManyRequests,
		(r.refused() || r.status == http.StatusRequestEntityTooLarge || r.status == http.StatusServiceUnavailable) && rateWords.MatchString(r.all):
		if limit, requested := r.rate(); limit > 0 && limit < requested {
			return llm.CodeQuota // no wait makes this request fit
		}
		return llm.CodeRateLimit
	case r.status == http.StatusServiceUnavailable:
		return llm.CodeServer
	case r.refused() && pairWords.MatchString(r.all):
		return llm.CodeInvalidRequest
	}
	return ""
}

// refused tells that the reply is about the request, as far as its status says.
func (r *reply) refused() bool {
	return r.status == 0 || r.status == http.StatusBadRequest || r.status == http.StatusUnprocessableEntity
}

// unexplained tells that a refusal gives no reason: no field, no code of its own.
func (r *reply) unexplained() bool {
	return r.refused() && r.status != 0 && r.param == "" && (r.code == "" || number(r.code) > 0 || badWords.MatchString(r.code)) &&
		!usageWords.MatchString(r.all)
}

// rate returns the numbers of a rate limit by tokens, 0 where none are given.
func (r *reply) rate() (limit, requested int) {
	if m := rateLimits.FindStringSubmatch(r.all); m != nil {
		return number(m[1]), number(m[2])
	}
	return 0, 0
}

// retryAfter reads the header as seconds or as an HTTP date, 0 = not said.
func retryAfter(h http.Header, now time.Time) time.Duration {
	for _, f := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		text := h.Get(f.name)
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			if n > 0 && n < 1e9 {
				return time.Duration(n * float64(f.unit))
			}
			return 0
		}
		if at, err := http.ParseTime(text); err == nil {
			return max(0, at.Sub(now))
		}
	}
	return 0
}
