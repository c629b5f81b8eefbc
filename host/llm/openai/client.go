package openai

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// DefaultBaseURL is where requests go when a Config names no other place.
const DefaultBaseURL = "https://api.openai.com/v1"

// DefaultIdleTimeout is how long an endpoint may stay silent (M19).
const DefaultIdleTimeout = 300 * time.Second

// Auto as a model name means the first model that the endpoint lists.
const Auto = "auto"

// Config says which endpoint to ask and how. The zero value of a field means
// the default that stands beside it.
type Config struct {
	Provider        string        // how Info names the provider: "openai"
	BaseURL         string        // DefaultBaseURL
	APIKey          string        // no Authorization header
	APIKeyEnv       string        // the variable that APIKey came from, for hints only
	Model           string        // Auto
	ContextWindow   int           // tokens; asked from the endpoint
	MaxOutputTokens int           // cap of a request that names none; the endpoint's own
	Quirk           string        // a row of the vendor table; found by BaseURL
	IdleTimeout     time.Duration // DefaultIdleTimeout
	HTTPClient      *http.Client  // a shared client that goes by the proxy variables of the environment
}

// String describes the Config by the host alone: a URL may hold secrets too.
func (c Config) String() string {
	host := "?"
	if base, err := parseBase(c.BaseURL); err == nil {
		host = base.Host
	}
	return fmt.Sprintf("%s model %q at %s", c.Provider, c.Model, host)
}

// GoString is String: no format prints the key (M25).
func (c Config) GoString() string { return c.String() }

// Client is an llm.Model that speaks Chat Completions. It is safe for
// concurrent use; sessions may share one. It sends a request once and never
// retries (M18), but resends one that was refused for an optional field, without
// that field, and one whose output cap alone was too large, with a smaller cap.
type Client struct {
	cfg    Config // without the key
	base   *url.URL
	quirk  *Quirk
	api    sdk.Client
	redact func(string) string // takes the key out of a text

	keyless bool

	encoder encoder
	noUsage atomic.Bool // the endpoint refused stream_options

	gate   chan struct{} // held while the endpoint is asked for its models
	asked  bool          // guarded by gate
	served atomic.Pointer[served]
}

// String describes the Client by its model and host.
func (c *Client) String() string { return c.cfg.String() }

// GoString is String.
func (c *Client) GoString() string { return c.cfg.String() }

// New makes a Client. It does not touch the network.
func New(cfg Config) (*Client, error) {
	if cfg.Provider == "" {
		cfg.Provider = "openai"
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.Model == "" {
		cfg.Model = Auto
	}
	if cfg.IdleTimeout <= 0 {
		cfg.IdleTimeout = DefaultIdleTimeout
	}
	base, err := parseBase(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	quirk, err := pickQuirk(cfg.Quirk, cfg.Provider, base)
	if err != nil {
		return nil, err
	}
	key := strings.TrimSpace(cfg.APIKey)
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("read the API key%s: it holds a line break or another control character; set it to the key alone", from(cfg.APIKeyEnv))
	}
	cfg.APIKey = ""
	c := &Client{
		cfg: cfg, base: base, quirk: quirk, redact: redactor(append(secretsOf(base), key)), keyless: key == "",
		encoder: encoder{quirk: quirk, bound: maxCached}, gate: make(chan struct{}, 1),
	}
	// The client is built without the library's constructor, which would send
	// keys and headers from OPENAI_* variables to whatever BaseURL names.
	c.api = sdk.Client{Options: c.options(key)}
	return c, nil
}

func (c *Client) options(key string) []option.RequestOption {
	client := c.cfg.HTTPClient
	if client == nil {
		client = sharedClient()
	}
	endpoint := *c.base
	endpoint.RawQuery = ""
	opts := []option.RequestOption{
		option.WithBaseURL(endpoint.String()),
		option.WithHTTPClient(client),
		option.WithMaxRetries(0),
		option.WithHeader("User-Agent", "tureen"),
	}
	for name, values := range c.base.Query() {
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	// What the library tells about the machine stays here (M21).
	for _, h := range []string{"Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Retry-Count", "Timeout"} {
		opts = append(opts, option.WithHeaderDel("X-Stainless-"+h))
	}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	return opts
}

func parseBase(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // the URL itself may hold a password
		}
		return nil, fmt.Errorf("read the base URL: %w; write it like %s", err, DefaultBaseURL)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("read the base URL: %q is no http or https address; write it like %s", base.Redacted(), DefaultBaseURL)
	}
	base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/chat/completions")
	base.Fragment = ""
	return base, nil
}

// redactor hides secrets in texts. One of under 8 characters is a placeholder such
// as "none" and no secret.
func redactor(secrets []string) func(string) string {
	var pairs []string
	for _, s := range secrets {
		if len(s) < 8 {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s)} {
			pairs = append(pairs, form, "[key]")
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

// secretParameter is the name of a parameter whose value is a secret.
var secretParameter = words(`(?i)key|token|secret|passw|sig|auth|code|credential`)

// Secrets are the values in a base URL that nobody else may see: those of parameters
// such as key=, and a password. Of a text that is no URL there are none.
func Secrets(baseURL string) []string {
	base, err := url.Parse(strings.TrimSpace(baseURL))
	if err != nil {
		return nil
	}
	return secretsOf(base)
}

func secretsOf(base *url.URL) []string {
	var secrets []string
	if password, ok := base.User.Password(); ok {
		secrets = append(secrets, password)
	}
	for name, values := range base.Query() {
		if secretParameter.MatchString(name) {
			secrets = append(secrets, values...)
		}
	}
	return secrets
}

func from(env string) string {
	if env == "" {
		return ""
	}
	return " in $" + env
}

// sharedClient serves every Client that brings none, so that connections are
// pooled. Its transport never sends loopback addresses through a proxy (the
// standard library's rule), does not follow redirects (a POST would become a
// GET), asks for no compression (it would hold back events) and notices a
// connection that died while the machine slept.
var sharedClient = sync.OnceValue(func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	transport.MaxIdleConnsPerHost = 32
	transport.WriteBufferSize = 64 << 10
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 30 * time.Second}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
})
