package web

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// guard keeps requests away from this machine and from private networks (T19). It
// looks at the address that is dialled, so that neither a name nor a redirect nor a
// name server that changes its mind gets past it.
type guard struct {
	private  bool     // everything is allowed
	hosts    []string // allowed wherever they lie, as hostKey writes them
	resolver *net.Resolver
}

// blockedError is a target that the guard refuses.
type blockedError struct{ target, why string }

func (e *blockedError) Error() string { return e.target + " is " + e.why }

// listed tells whether the config names a host, host and port of a URL or a dial.
func (g *guard) listed(host, port string) bool {
	name := hostKey(host)
	return g.private || slices.Contains(g.hosts, name) || slices.Contains(g.hosts, name+":"+port)
}

// dial connects to an address that may be reached. Its check comes after the name
// was looked up, for each address on its own.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Resolver: g.resolver}
	if !g.listed(host, port) {
		d.ControlContext = func(_ context.Context, _, to string, _ syscall.RawConn) error {
			addr, err := netip.ParseAddrPort(to)
			if err != nil {
				return &blockedError{host, "no address that can be checked"}
			}
			if why := refused(addr.Addr()); why != "" {
				return &blockedError{named(host, addr.Addr()), why}
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// named is a host with its address, where that is another word.
func named(host string, addr netip.Addr) string {
	if host == addr.String() {
		return host
	}
	return fmt.Sprintf("%s (%s)", host, addr)
}

// check looks at a URL before anything is sent: scheme, user, host. It is asked for
// each redirect as well.
func (g *guard) check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return &blockedError{"scheme " + fmt.Sprintf("%.40q", u.Scheme), "neither http nor https"}
	case u.User != nil:
		return &blockedError{"a URL with a user name or a password", "not sent; leave them out"}
	case u.Hostname() == "":
		return &blockedError{"a URL without a host", "not complete"}
	}
	host, err := asciiHost(u)
	if err != nil {
		return err
	}
	if g.listed(host, portOf(u)) {
		return nil
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if why := refused(addr); why != "" {
			return &blockedError{host, why}
		}
		return nil
	}
	return checkName(strings.TrimSuffix(strings.ToLower(host), "."))
}

// asciiHost is a URL's host as it is looked up: other characters may stand for
// digits and dots.
func asciiHost(u *url.URL) (string, error) {
	host := u.Hostname()
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return host, nil
	}
	host, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return "", &blockedError{fmt.Sprintf("%.80q", u.Hostname()), "no host name"}
	}
	return host, nil
}

// checkName refuses names that always mean this machine, and numbers that some
// resolvers take for an IPv4 address.
func checkName(name string) error {
	last := name[strings.LastIndex(name, ".")+1:]
	switch {
	case last == "localhost" || last == "local" || last == "internal" || name == "":
		return &blockedError{fmt.Sprintf("%.80q", name), "a name of this machine or of a private network"}
	case last != "" && strings.Trim(last, "0123456789") == "", strings.HasPrefix(last, "0x"):
		return &blockedError{fmt.Sprintf("%.80q", name), "a number in place of a name; write an IPv4 address as four decimal numbers"}
	}
	return nil
}

// checkBehindProxy is for a proxy, which looks the name up itself: what this
// machine knows of the name must be public.
func (g *guard) checkBehindProxy(ctx context.Context, u *url.URL) error {
	host, err := asciiHost(u)
	if err != nil || g.listed(host, portOf(u)) {
		return err
	}
	resolver := g.resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil // only the proxy knows it
	}
	for _, addr := range addrs {
		if why := refused(addr); why != "" {
			return &blockedError{named(host, addr), why}
		}
	}
	return nil
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
