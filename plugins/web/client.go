package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

const (
	maxRedirects = 5
	maxBody      = 5 << 20 // bytes read, unpacked
	maxHeader    = 64 << 10
	urlHead      = 2000 // characters shown of a URL
)

var errRedirects = fmt.Errorf("more than %d redirects", maxRedirects)

// fetcher gets pages. It is safe for concurrent use.
type fetcher struct {
	agent  string // of requests
	guard  *guard
	client *http.Client
}

// newFetcher makes a fetcher without cookies, credentials and kept connections,
// whose every dial goes through a guard.
func newFetcher(c Config, agent string) *fetcher {
	g := &guard{private: c.AllowPrivate, hosts: c.AllowHosts}
	t := &http.Transport{
		DialContext: g.dial, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
	}
	if c.Proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return c.Proxy, g.checkBehindProxy(r.Context(), r.URL) }
		t.DialContext = (&net.Dialer{}).DialContext // only ever to the proxy
	}
	return &fetcher{agent: agent, guard: g, client: &http.Client{Transport: t, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errRedirects
		}
		r.Header.Del("Referer")
		if err := g.check(r.URL); err != nil {
			return err
		}
		if !sameOrigin(via[0].URL, r.URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
}

// sameOrigin tells whether a redirect stays where the call was allowed to go: the same
// scheme, host and port, or from a host's plain port to its encrypted one.
func sameOrigin(from, to *url.URL) bool {
	name, err := asciiHost(from)
	other, err2 := asciiHost(to)
	if err != nil || err2 != nil || hostKey(name) != hostKey(other) {
		return false
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && portOf(from) == "80" && portOf(to) == "443"
	return upgrade || from.Scheme == to.Scheme && portOf(from) == portOf(to)
}

// page is an answer as it came.
type page struct {
	url         *url.URL // after the redirects
	leads       *url.URL // where a redirect that was not followed leads, nil = nowhere
	status      int
	contentType string
	body        []byte
	cut         bool  // there was more than maxBody
	size        int64 // of the body as announced, -1 = unknown
}

// get fetches a URL. Errors are *toolcall.Error, or ctx's.
func (f *fetcher) get(ctx context.Context, raw, accept string) (*page, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return nil, toolcall.Errorf("BAD_URL", "this is no URL: %s", reason(err))
	}
	if err := f.guard.check(u); err != nil {
		return nil, failure(ctx, err)
	}
	limited, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, toolcall.Errorf("BAD_URL", "this is no URL: %s", reason(err))
	}
	request.Header.Set("User-Agent", f.agent)
	request.Header.Set("Accept", accept)
	response, err := f.client.Do(request)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := io.Copy(&body, io.LimitReader(response.Body, maxBody+1)); err != nil {
		return nil, failure(ctx, err)
	}
	out := &page{url: response.Request.URL, status: response.StatusCode, contentType: response.Header.Get("Content-Type"), body: body.Bytes(), size: response.ContentLength}
	if to, err := response.Location(); err == nil && redirected(out.status) {
		out.leads = to
	}
	if out.cut = body.Len() > maxBody; out.cut {
		out.body = out.body[:maxBody]
	}
	return out, nil
}

// failure says why nothing came.
func failure(ctx context.Context, err error) error {
	var blocked *blockedError
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &blocked):
		return toolcall.Errorf("ADDRESS_REFUSED", "not fetched: %s. Only the public web can be reached; where the person wants this one, they can list its host under allow_hosts in the config of plugin %q", blocked, Name)
	case errors.Is(err, errRedirects):
		return toolcall.Errorf("REDIRECTS", "given up after %d redirects; fetch the address that the page should have in the end", maxRedirects)
	case errors.As(err, &dns) && dns.IsNotFound:
		return toolcall.Errorf("NOT_FOUND", "there is no host %.200q; check the URL", dns.Name)
	case errors.As(err, &timeout) && timeout.Timeout():
		return toolcall.Errorf("TIMEOUT", "no complete answer within %s; try again later, or fetch something smaller", deadline)
	}
	return toolcall.Errorf("FETCH_FAILED", "the fetch failed: %s; check the URL, or try again later", reason(err))
}

// reason is an error without the URL, which may be long, on one line.
func reason(err error) string {
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	return fmt.Sprintf("%.300s", strings.Join(strings.Fields(err.Error()), " "))
}

// spelled is a URL on one line of visible ASCII, however it was written.
func spelled(u *url.URL) string {
	var b strings.Builder
	for _, c := range []byte(u.String()) {
		if c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	if b.Len() > urlHead {
		return b.String()[:urlHead] + "…"
	}
	return b.String()
}
