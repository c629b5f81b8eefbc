package web_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/tureen-host/tureen/plugins/web"
)

// names is a name server on loopback; answers are looked up anew each time.
func names(t *testing.T, answer func(name string) net.IP) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		packet := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(packet)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			var m dnsmessage.Message
			if err != nil || m.Unpack(packet[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			ip := answer(strings.TrimSuffix(q.Name.String(), "."))
			head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 0}
			switch ip4 := ip.To4(); {
			case ip == nil:
				m.RCode = dnsmessage.RCodeNameError
			case ip4 != nil && q.Type == dnsmessage.TypeA:
				m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: [4]byte(ip4)}}}
			case ip4 == nil && q.Type == dnsmessage.TypeAAAA:
				m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: [16]byte(ip)}}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// inside is a server that nobody may reach; it counts who did.
func inside(t *testing.T) (port string, reached *atomic.Int32) {
	t.Helper()
	reached = &atomic.Int32{}
	s := site(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		_, _ = w.Write([]byte("the secret"))
	}})
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return port, reached
}

func TestT19_NothingInsideIsReached(t *testing.T) {
	t.Parallel()
	port, reached := inside(t)
	var turn atomic.Int32
	resolver := names(t, func(name string) net.IP {
		switch name {
		case "loop.example.com":
			return net.IPv4(127, 0, 0, 1)
		case "private.example.com":
			return net.IPv4(10, 1, 2, 3)
		case "meta.example.com":
			return net.IPv4(169, 254, 169, 254)
		case "six.example.com":
			return net.IPv6loopback
		case "mapped.example.com":
			return net.ParseIP("fd00::5")
		case "2130706433", "0177.0.0.1", "127.1", "0x7f000001": // as some resolvers take them
			return net.IPv4(127, 0, 0, 1)
		case "rebind.example.com": // another address each time
			if turn.Add(1) == 1 {
				return net.IPv4(192, 0, 2, 1)
			}
			return net.IPv4(127, 0, 0, 1)
		}
		return nil
	})
	b := serve(t, web.PluginWith(resolver), `{}`)
	attempts := []string{
		"http://127.0.0.1:PORT/", "http://127.0.0.1:PORT", "HTTP://127.0.0.1:PORT/", "http://127.8.9.10:PORT/", "http://localhost:PORT/", "http://LOCALHOST.:PORT/",
		"http://a.localhost:PORT/", "http://[::1]:PORT/", "http://[::]:PORT/", "http://0.0.0.0:PORT/", "http://0:PORT/", "http://[::ffff:127.0.0.1]:PORT/",
		"http://[::ffff:7f00:1]:PORT/", "http://[0:0:0:0:0:ffff:7f00:1]:PORT/", "http://[::127.0.0.1]:PORT/", "http://[64:ff9b::127.0.0.1]:PORT/",
		"http://[64:ff9b:1::7f00:1]:PORT/", "http://[2002:7f00:1::]:PORT/", "http://[2001:0:1::1]:PORT/", "http://[fe80::1]:PORT/", "http://[fe80::1%25lo]:PORT/",
		"http://[::1%25lo]:PORT/", "http://[fd00::1]:PORT/", "http://[fd00:ec2::254]/latest/meta-data/", "http://[fec0::1]/", "http://[ff02::1]/", "http://[2001:db8::1]/",
		"http://2130706433:PORT/", "http://0177.0.0.1:PORT/", "http://0x7f000001:PORT/", "http://0x7f.0.0.1:PORT/", "http://127.1:PORT/", "http://127.0.0.1.:PORT/",
		"http://017700000001:PORT/", "http://127.0.0.0x1:PORT/", "http://１２７.0.0.1:PORT/", "http://127。0。0。1:PORT/", "http://%31%32%37.0.0.1:PORT/",
		"http://169.254.169.254/latest/meta-data/iam/", "http://169.254.170.2/v2/credentials", "http://100.100.100.200/", "http://168.63.129.16/", "http://metadata.google.internal/",
		"http://10.0.0.1/", "http://172.16.0.1/", "http://172.31.255.254/", "http://192.168.1.1/", "http://100.64.0.1/", "http://198.18.0.1/", "http://192.0.0.1/",
		"http://224.0.0.1/", "http://240.0.0.1/", "http://255.255.255.255/", "http://printer.local/", "https://127.0.0.1:PORT/", "https://localhost:PORT/",
		"http://loop.example.com:PORT/", "http://private.example.com/", "http://meta.example.com/", "http://six.example.com:PORT/", "http://mapped.example.com/",
		"http://rebind.example.com:PORT/", "http://rebind.example.com:PORT/again",
		"http://user@127.0.0.1:PORT/", "http://user:pass@loop.example.com:PORT/", "http://example.com@127.0.0.1:PORT/", "http://127.0.0.1:PORT#@example.com/", `http://example.com\@127.0.0.1:PORT/`,
		"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:PORT/_GET", "unix:///run/x.sock", "//127.0.0.1:PORT/", "127.0.0.1:PORT", "http:///127.0.0.1:PORT/", "http:127.0.0.1:PORT",
		"data:text/plain,hi", "javascript:alert(1)", "http://127.0.0.1:PORT/\r\nHost: example.com", "http://", "",
	}
	for _, a := range attempts {
		if r := b.fetch(strings.ReplaceAll(a, "PORT", port)); !r.IsError || strings.Contains(r.Text, "the secret") {
			t.Errorf("%q was fetched: %.200s", a, r.Text)
		}
	}
	if n := reached.Load(); n != 0 || len(attempts) < 25 {
		t.Errorf("%d of %d attempts reached the server inside", n, len(attempts))
	}
	if turn.Load() < 2 {
		t.Errorf("the changing name was looked up %d times", turn.Load())
	}
}

func TestT19_ARedirectLeadsNowhereInside(t *testing.T) {
	t.Parallel()
	port, reached := inside(t)
	resolver := names(t, func(name string) net.IP {
		if name == "door.example.com" || name == "loop.example.com" {
			return net.IPv4(127, 0, 0, 1)
		}
		return nil
	})
	s := site(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	}})
	_, door, _ := net.SplitHostPort(s.Listener.Addr().String())
	b := serve(t, web.PluginWith(resolver), `{"allow_hosts":["Door.example.com.:`+door+`"]}`)
	for _, to := range []string{
		"http://127.0.0.1:PORT/", "//127.0.0.1:PORT/", "http://[::1]:PORT/", "http://localhost:PORT/", "http://2130706433:PORT/",
		"http://user:pass@door.example.com:" + door + "/", "file:///etc/passwd", "http://169.254.169.254/",
	} {
		if r := b.fetch("http://door.example.com:" + door + "/?to=" + strings.ReplaceAll(to, "PORT", port)); r.Code != "ADDRESS_REFUSED" {
			t.Errorf("%q: %s: %.200s", to, r.Code, r.Text)
		}
	}
	for _, host := range []string{"loop.example.com", "door.example.com"} { // names are looked up by who follows
		to := "http://" + host + ":" + port + "/"
		if _, content, _ := open(t, b.fetch("http://door.example.com:"+door+"/?to="+to)); content != to {
			t.Errorf("%s: %q", to, content)
		}
		if r := b.fetch(to); r.Code != "ADDRESS_REFUSED" {
			t.Errorf("%s: %+v", to, r)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests reached the server inside", n)
	}
}

func TestT19_WhatTheConfigAllowsIsReached(t *testing.T) {
	t.Parallel()
	port, reached := inside(t)
	for config, url := range map[string]string{
		`{"allow_private":true}`:                              "http://127.0.0.1:PORT/",
		`{"allow_hosts":["127.0.0.1"]}`:                       "http://127.0.0.1:PORT/",
		`{"allow_hosts":["LocalHost"]}`:                       "http://localhost:PORT/",
		`{"allow_hosts":["localhost:` + port + `"]}`:          "http://localhost:PORT/",
		`{"allow_hosts":["other", "127.0.0.1:` + port + `"]}`: "http://127.0.0.1:PORT/",
	} {
		if _, content, _ := open(t, setup(t, config).fetch(strings.ReplaceAll(url, "PORT", port))); content != "the secret" {
			t.Errorf("%s: %q", config, content)
		}
	}
	if n := reached.Load(); n != 5 {
		t.Errorf("reached %d times", n)
	}
	for config, url := range map[string]string{
		`{"allow_hosts":["127.0.0.1:1"]}`: "http://127.0.0.1:PORT/",
		`{"allow_hosts":["localhost"]}`:   "http://127.0.0.1:PORT/",
		`{"allow_hosts":["host"]}`:        "http://localhost:PORT/",
	} {
		if r := setup(t, config).fetch(strings.ReplaceAll(url, "PORT", port)); r.Code != "ADDRESS_REFUSED" || !strings.Contains(r.Text, "allow_hosts") {
			t.Errorf("%s: %s", config, r.Text)
		}
	}
}

func TestT19_AProxyIsAskedForPublicHostsOnly(t *testing.T) {
	t.Parallel()
	var asked []string
	proxy := site(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		_, _ = w.Write([]byte("through the proxy"))
	}})
	resolver := names(t, func(name string) net.IP {
		if name == "loop.example.com" {
			return net.IPv4(127, 0, 0, 1)
		}
		return nil
	})
	b := serve(t, web.PluginWith(resolver), `{"proxy":"`+proxy.URL+`"}`)
	if _, content, _ := open(t, b.fetch("http://only-the-proxy-knows.example.com/x")); content != "through the proxy" {
		t.Errorf("got %q", content)
	}
	for _, u := range []string{"http://127.0.0.1/", "http://loop.example.com/", "http://localhost/", "http://169.254.169.254/", "https://loop.example.com/",
		"http://127。0。0。1/", "http://１２７.0.0.1/", "http://ⓛocalhost/", "http://2130706433/", "http://[::ffff:127.0.0.1]/", "http://user@example.com/"} {
		if r := b.fetch(u); r.Code != "ADDRESS_REFUSED" {
			t.Errorf("%s: %+v", u, r)
		}
	}
	if len(asked) != 1 || asked[0] != (&url.URL{Scheme: "http", Host: "only-the-proxy-knows.example.com", Path: "/x"}).String() {
		t.Errorf("the proxy was asked for %v", asked)
	}
}
