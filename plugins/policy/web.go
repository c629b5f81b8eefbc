package policy

import (
	"net/url"
	"path"
	"strings"
)

// fetch judges web_fetch.
func (p *Provider) fetch(f *finding, raw string) {
	f.subject, f.detail = "fetch this page", raw
	clean, origin := normal(raw)
	if f.scope = "pages of " + visible(origin); clean == "" {
		f.scope = "exactly this"
	}
	denies := func(r Rule) bool { return r.command(raw) || clean != "" && r.command(clean) }
	p.network(f, toolFetch, toolFetch+"\x00"+origin, denies, func(r Rule) bool { return clean != "" && r.command(clean) })
}

// search judges web_search.
func (p *Provider) search(f *finding, args arguments) {
	queries := args.Queries
	if args.Query != "" {
		queries = append(queries, args.Query)
	}
	f.subject, f.detail, f.scope = "search the web", strings.Join(queries, "\n"), "web searches"
	p.network(f, toolSearch, toolSearch, func(r Rule) bool { return anyQuery(queries, r) }, func(r Rule) bool { return everyQuery(queries, r) })
}

func anyQuery(queries []string, r Rule) bool {
	for _, q := range queries {
		if r.command(q) {
			return true
		}
	}
	return false
}

func everyQuery(queries []string, r Rule) bool {
	for _, q := range queries {
		if !r.command(q) {
			return false
		}
	}
	return len(queries) > 0
}

// network judges a tool that reaches other machines: denies fits a rule that
// forbids or asks, allows one that allows.
func (p *Provider) network(f *finding, tool, key string, denies, allows func(Rule) bool) {
	if p.config.Network == SayDeny {
		f.deny = textDenied("network", tool+" reaches other machines")
		return
	}
	if p.ruled(f, tool, key, denies) || p.config.Network == SayAllow || p.allowed(tool, allows) {
		return
	}
	f.ask("it reaches other machines", key)
}

// normal writes a URL as a client would send it, and its origin; both "" where it
// is none that can be told.
func normal(raw string) (clean, origin string) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" || strings.ContainsAny(raw, "\\ \t\r\n") {
		return "", "\x00" + raw
	}
	u.Scheme, u.Host, u.Fragment = strings.ToLower(u.Scheme), strings.ToLower(u.Host), ""
	u.Host = strings.TrimSuffix(u.Host, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
	dir := strings.HasSuffix(u.Path, "/")
	u.Path, u.RawPath = path.Clean("/"+u.Path), ""
	if dir && u.Path != "/" {
		u.Path += "/"
	}
	return u.String(), u.Scheme + "://" + u.Host
}
