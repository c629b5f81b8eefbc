// Package web is the plugin with the tools web_fetch and web_search.
package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "web"

//go:embed config.json
var configSchema []byte

// Config is the plugin's config (T19).
type Config struct {
	AllowPrivate bool     // addresses of this machine and of private networks too
	AllowHosts   []string // NAME or NAME:PORT, wherever they lie
	Proxy        *url.URL // nil = none
	Search       string   // URL with {query}, "" = no tool web_search
}

// queryPlace is where a search's words stand in the endpoint's URL.
const queryPlace = "{query}"

// ParseConfig reads a config that fits the schema. Errors name the key.
func ParseConfig(raw json.RawMessage) (Config, error) {
	var in struct {
		AllowPrivate bool     `json:"allow_private"`
		AllowHosts   []string `json:"allow_hosts"`
		Proxy        string   `json:"proxy"`
		SearchURL    string   `json:"search_url"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Config{}, fmt.Errorf("read the config of plugin %q: %w", Name, err)
	}
	c := Config{AllowPrivate: in.AllowPrivate, Search: in.SearchURL}
	for _, host := range in.AllowHosts {
		if strings.ContainsAny(host, "/@*? ") {
			return c, fmt.Errorf("config of plugin %q: allow_hosts has %q; write NAME or NAME:PORT, without a scheme or a path", Name, host)
		}
		c.AllowHosts = append(c.AllowHosts, hostKey(host))
	}
	if in.Proxy != "" {
		u, err := url.Parse(in.Proxy)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return c, fmt.Errorf("config of plugin %q: proxy is no URL of an HTTP proxy; write it as http://HOST:PORT", Name)
		}
		c.Proxy = u
	}
	if in.SearchURL == "" {
		return c, nil
	}
	u, err := url.Parse(strings.ReplaceAll(in.SearchURL, queryPlace, "x"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || !strings.Contains(in.SearchURL, queryPlace) ||
		strings.Contains(strings.SplitN(in.SearchURL, "?", 2)[0], queryPlace) {
		return c, fmt.Errorf("config of plugin %q: this search_url cannot be used and is not repeated, it may hold a secret; write it as http://HOST/search?q=%s&format=json", Name, queryPlace)
	}
	return c, nil
}

// hostKey is a host, with or without its port, as hosts are compared.
func hostKey(host string) string {
	name, port := strings.ToLower(host), ""
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return addr.Unmap().String()
	}
	if i := strings.LastIndex(name, ":"); i >= 0 {
		name, port = name[:i], name[i:]
	}
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return addr.Unmap().String() + port
	}
	return strings.TrimSuffix(name, ".") + port
}

// Plugin describes the plugin. It asks for no capability.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleTools},
		ConfigSchema: configSchema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			config, err := ParseConfig(init.Config)
			if err != nil {
				return sdk.Services{}, sdk.BadConfig(err)
			}
			return sdk.Services{Tools: New(config, version)}, nil
		},
	}
}
