package main_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// ---- the command line

var badCommands = []badInput{
	{name: "unknown verb", args: []string{"rum", asked}, plain: true, exit: 2,
		what: `tureen has no verb "rum"`, do: `did you mean run\?`},
	{name: "unknown flag", args: task("--modle", "x"), exit: 2, code: "USAGE",
		what: `unknown flag: --modle`, do: `did you mean --model\?`},
	{name: "flag without its value", args: []string{"run", asked, "-P"}, exit: 2, code: "USAGE",
		what: `flag needs an argument: 'P' in -P`, do: `tureen run --help lists the flags`},
	{name: "bad format", args: []string{"run", "-o", "yaml", asked}, plain: true, exit: 2,
		what: `--output "yaml" is no format`, do: `use text, json or stream-json`},
	{name: "override without =", args: with("limits.max_steps"), exit: 2, code: "PROFILE",
		what: `-c: "limits.max_steps" has no =`, do: `write -c key=value .*`},
	{name: "override of a list's item", args: with("plugins[0].use=x"), exit: 2, code: "PROFILE",
		what: `-c: "plugins\[0\].use" names an item of a list`, do: `a list is set whole, .*`},
	{name: "directory that is not there", args: task("-C", "nowhere"), exit: 2, code: "USAGE",
		what: `-C nowhere: no such file or directory`, do: `name a directory that exists`},
	{name: "directory that is a file", files: map[string]string{"file": ""}, args: task("-C", "file"), exit: 2, code: "USAGE",
		what: `-C file: not a directory`, do: `name a directory that exists`},
	{name: "quiet and verbose", args: task("-q", "-v"), exit: 2, code: "USAGE",
		what: `-q and -v exclude each other`, do: `choose one of them`},
	{name: "colour that is none", args: task("--color", "sometimes"), exit: 2, code: "USAGE",
		what: `--color "sometimes" is not auto, always or never`, do: `leave it out .*`},
}

// ---- the prompt

var badPrompts = []badInput{
	{name: "empty prompt", args: []string{"run", "-P", "none", " \n"}, exit: 2, code: "USAGE",
		what: `the prompt is empty`, do: `give one: .*`},
	{name: "prompt of NULs", stdin: "\x00\x00", args: []string{"run", "-P", "none", "-"}, exit: 2, code: "USAGE",
		what: `the prompt is empty`, do: `give one: .*`},
	{name: "prompt of 10 MB", stdin: strings.Repeat("0123456789", 1<<20), args: []string{"run", "-P", "none", "-"}, exit: 2, code: "USAGE",
		what: `the prompt is longer than 3 MiB`, do: `write it to a file .*`},
	{name: "prompt larger than the window", setUp: withModel(answers()), stdin: asked + strings.Repeat(" and the red one", 150_000),
		args: []string{"run", "-P", "none", "-c", "model.max_output_tokens=2000", "-"}, exit: 6, code: "CONTEXT_WINDOW_EXCEEDED", store: thePrompt,
		what: `model request failed: CONTEXT_WINDOW_EXCEEDED .*`, do: `choose a strategy .*`},
}

// ---- the profile

var badProfiles = []badInput{
	{name: "unknown profile", args: []string{"run", "-P", "notsoup", asked}, exit: 2, code: "PROFILE_NOT_FOUND",
		what: `no profile "notsoup"`, do: `did you mean "notesoup"\? tureen profile list shows which there are`},
	{name: "unknown key", files: profileText("[compaction]\ntreshold_ratio = 0.5\n"), args: mine, exit: 2, code: "PROFILE",
		what: `p.toml:4:1: compaction.treshold_ratio: unknown key`, do: `did you mean "threshold_ratio"\?`},
	{name: "wrong type", files: profileText("[limits]\nmax_steps = \"many\"\n"), args: mine, exit: 2, code: "PROFILE",
		what: `\S*p.toml:4:1: limits.max_steps: found text "many"; allowed: a whole number from 1 to 1000000`, do: `mend the profile, .*`},
	{name: "several problems", files: profileText("noise = 1\n[limits]\nmax_steps = 0\n"), args: mine, exit: 2, code: "PROFILE",
		what: `profile "p" has 2 problems:`, do: `mend the profile, .*`},
	{name: "not TOML", files: map[string]string{"p.toml": "schema = 1\nextends none\n"}, args: mine, exit: 2, code: "PROFILE",
		what: `\S*p.toml:2:\d+: .*`, do: `.+`},
	{name: "table of no plugin", args: with("plugin.polcy.approval=never"), exit: 2, code: "PROFILE",
		what: `-c: plugin.polcy: no row of \[\[plugins\]\] uses it`, do: `add the row, .*`},
	{name: "policy that may fail open", files: profileText("[[plugins]]\nuse = \"policy\"\non_failure = \"continue\"\n"), args: mine, exit: 2, code: "PROFILE",
		what: `\S*p.toml:5:1: plugins\[0\].on_failure: "continue" would let every call run once the policy fails`, do: `leave it out, .*`},
	{name: "unknown strategy", args: with("compaction.strategy=sumary"), exit: 2, code: "PROFILE",
		what: `-c: compaction.strategy: no plugin "sumary" is shipped; allowed: .*`, do: `did you mean "summary"\?`},
	{name: "two strategies", args: with(`compaction.strategy=["summary", "notesoup"]`), exit: 2, code: "PROFILE",
		what: `-c: compaction.strategy: found .*`, do: `.*one.*`},
	{name: "strategy's table is wrong", args: with("compaction.strategy=notesoup", "compaction.notesoup.cary=all"), exit: 2, code: "CONFIG_INVALID",
		what: `plugin "notesoup": .*cary.*`, do: `.*did you mean "carry"\?.*|tureen plugin inspect notesoup shows what it takes`},
	{name: "budget", args: with("compaction.strategy=summary", "model.context_window=9000"), setUp: withModel(answers()), exit: 2, code: "BUDGET_CONFIG",
		what: `[^A-Z]* tokens .*`, do: `change .*`},
	{name: "budget of a strategy", args: with("compaction.strategy=notesoup", "model.context_window=12000", "model.max_output_tokens=6000"), setUp: withModel(answers()), exit: 2, code: "BUDGET_CONFIG", store: begun,
		what: `open strategy "notesoup": the line at \d+ tokens .*`, do: `change .*`},
	{name: "cost limit without a price", args: with("limits.max_cost_usd=1"), exit: 2, code: "PROFILE",
		what: `-c: limits.max_cost_usd: a cost limit needs a price, and there is none`, do: `write \[price\] with input and output, or leave the limit out`},
	{name: "profile that is a directory", setUp: func(t *testing.T, u *sandbox) { mkdir(t, u.path("work", "p.toml")) }, args: mine, exit: 2, code: "PROFILE",
		what: `\S*p.toml: cannot be read: .*`, do: `.+`},
	{name: "project's profile", setUp: func(t *testing.T, u *sandbox) {
		mkdir(t, u.path("work", ".tureen", "profiles"))
		write(t, u.path("work", ".tureen", "profiles", "none.toml"), "schema = 1\n[[plugins]]\nuse = \"/bin/true\"\n")
	}, args: task(), exit: 2, code: "PROFILE_UNTRUSTED",
		what: `profile "none" comes from the project \(\S+\), .*`, do: `read it, .*`},
	{name: "no key for the default endpoint", setUp: func(_ *testing.T, u *sandbox) { u.env = append(u.env, "OPENAI_BASE_URL=") }, args: task(), exit: 2, code: "PROFILE",
		what: `model.api_key_env: \$OPENAI_API_KEY is not set, and https://api.openai.com/v1 asks for a key`, do: `set it, or name another server .*`},
	{name: "key in the profile", files: profileText("[model]\napi_key_env = \"sk-1234567890abcdefghijklmnop\"\n"), args: mine, exit: 2, code: "PROFILE",
		what: `\S*p.toml:4:1: model.api_key_env: this value cannot stand here and is not repeated, it may hold a secret; .*`, do: `.+`},
}

// ---- plugins

var badPlugins = []badInput{
	{name: "plugin that is not there", args: plug("./nowhere"), exit: 2, code: "PROFILE",
		what: `-c: plugins\[0\].use: there is no file "\S+/nowhere"; allowed: an executable file, or a directory with plugin.toml`, do: `mend the path, .*`},
	{name: "plugin that may not be executed", files: map[string]string{"plugin.sh": "echo hello\n"}, args: plug("./plugin.sh"), exit: 2, code: "PROFILE",
		what: `.*\S+/plugin.sh is not executable.*`, do: `.*chmod \+x.*`},
	{name: "plugin without an interpreter", files: map[string]string{"plugin.sh": "#!/no/such/interpreter\n"}, setUp: withModel(answers()), args: plug("./plugin.sh"), exit: 7, code: "PLUGIN_START",
		what: `plugin "plugin" \(-c\) did not start: its interpreter /no/such/interpreter is missing`, do: `install it, or change the #! line of \S+/plugin.sh`},
	{name: "plugin of another protocol", files: script(`echo "1|2|unix|$PLUGIN_UNIX_SOCKET_DIR/p.sock|grpc"; exec cat`), setUp: withModel(answers()), args: plug("./plugin.sh"), exit: 7, code: "PLUGIN_START",
		what: `plugin "plugin" \(-c\) did not start: it speaks protocol version 2, this host speaks 1`, do: `use a release of the plugin .*`},
	{name: "plugin that greets on stdout", files: script(`echo "Starting up."; exec cat`), setUp: withModel(answers()), args: plug("./plugin.sh"), exit: 7, code: "PLUGIN_START",
		what: `plugin "plugin" \(-c\) did not start: its first line on stdout is "Starting up.", not the handshake`, do: `write banners and logs to stderr; .*`},
	{name: "plugin that floods stdout", files: script(`exec yes`), setUp: withModel(answers()), args: plug("./plugin.sh"), exit: 7, code: "PLUGIN_START",
		what: `plugin "plugin" \(-c\) did not start: its first line on stdout is "y", not the handshake`, do: `write banners .*`},
	{name: "plugin that hangs at the start", files: script(`exec cat`), setUp: withModel(answers()), args: plug("./plugin.sh"), exit: 7, code: "PLUGIN_START",
		what: `plugin "plugin" \(-c\) did not start: no handshake line on stdout within 15s`, do: `print it, and flush, as soon as the server listens`},
	{name: "plugin that ends at the start", files: script(`echo "no licence" >&2; exit 3`), setUp: withModel(answers()), args: plug("./plugin.sh"), exit: 7, code: "PLUGIN_START",
		what: `plugin "plugin" \(-c\) did not start: it ended before the handshake \(exit status 3\)`, do: `run it by hand to see why.*`},
	{name: "plugin that dies in its set-up", setUp: faultyProfile("diesatstart", ""), args: mine, exit: 7, code: "PLUGIN_START",
		what: `plugin "diesatstart" \(\S*p.toml:\d+\) did not start: it ended while it was set up \(exit status 3: out of luck\)`, do: `.+`},
	{name: "plugin that refuses to start", setUp: faultyProfile("unready", ""), args: mine, exit: 7, code: "PLUGIN_START",
		what: `plugin "unready" \(\S*p.toml:\d+\) did not start: .*the licence file is missing.*`, do: `.+`},
	{name: "config that only the plugin can judge", setUp: withModel(answers()), args: with("plugin.shell.timeout=soon"), exit: 2, code: "CONFIG_INVALID",
		what: `plugin "shell" \(\S+\): timeout is "soon"; write a duration .*`, do: `change that key; .*`},
	{name: "plugin with a bad config", setUp: faultyProfile("particular", `config = { level = "high" }`), args: mine, exit: 2, code: "CONFIG_INVALID",
		what: `plugin "particular": .*level.*`, do: `tureen plugin inspect PATH shows what it takes`},
	{name: "plugin twice", setUp: faultyProfile("dies", "[[plugins]]\nuse = \"./dies\"\n"), args: mine, exit: 2, code: "PROFILE",
		what: `.*plugins\[1\].use: .* stands in plugins\[0\] .* too`, do: `keep one of the rows`},
	{name: "strategy that is none", setUp: func(t *testing.T, u *sandbox) { faulty(t, u, "dies"); withModel(answers())(t, u) }, args: with("compaction.strategy=./dies"), exit: 2, code: "PROFILE",
		what: `-c: compaction.strategy: plugin "dies" offers no compaction strategy`, do: `.+`},
	{name: "strategy that does not open", setUp: func(t *testing.T, u *sandbox) { faulty(t, u, "badstrategy"); withModel(answers())(t, u) }, args: with("compaction.strategy=./badstrategy"),
		exit: 7, code: "FAILED", what: `open strategy "badstrategy": the template is broken`, do: `mend the template`, store: begun},
	{name: "hook that rejects", setUp: faultyProfile("rejects", ""), args: mine, exit: 11, code: "BLOCKED", store: thePrompt,
		what: `.*nobody works on a Sunday`, do: `tureen plugin list .*`},
	{name: "hook that fails", setUp: faultyProfile("hookfails", ""), args: mine, exit: 7, code: "PLUGIN_HOOK_FAILED", store: thePrompt,
		what: `hook before_step of plugin "hookfails": .*the calendar cannot be read`, do: `.+`},
	{name: "hook that dies", setUp: faultyProfile("hookdies", ""), args: mine, exit: 7, code: "PLUGIN_HOOK_FAILED", store: thePrompt,
		what: `hook before_step of plugin "hookdies": .*exit status 3.*`, do: `.+`},
}

// ---- the endpoint

var badEndpoints = []badInput{
	{name: "nobody listens", args: task(), exit: 8, code: "TRANSPORT",
		what: `model request failed: TRANSPORT: 127.0.0.1:1: .*connection refused`, do: `is the server running at 127.0.0.1:1\?`},
	{name: "nobody listens, model known", args: known("retry.max_retries=0"), exit: 8, code: "TRANSPORT", store: thePrompt,
		what: `model request failed: TRANSPORT: 127.0.0.1:1: .*connection refused`, do: `is the server running at 127.0.0.1:1\?`},
	{name: "address without http", args: task("--base-url", "localhost:8080"), exit: 2, code: "PROFILE",
		what: `--base-url: model.base_url: found text "localhost:8080"; allowed: an http or https URL .*`, do: `.+`},
	{name: "wrong key", setUp: withEndpoint(status(401, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`)), args: known(), exit: 8, code: "AUTH", store: thePrompt,
		what: `model request failed: AUTH \(HTTP 401\): Incorrect API key provided \[invalid_api_key\]`, do: `check the API key in \$OPENAI_API_KEY: 127.0.0.1:\d+ does not accept it`},
	{name: "JSON of another shape", setUp: withEndpoint(status(200, `{"hello":"world"}`)), args: known("retry.max_retries=0"), exit: 8, code: "MALFORMED_RESPONSE", store: thePrompt,
		what: `model request failed: MALFORMED_RESPONSE.*`, do: `.+`},
	{name: "HTML", setUp: withEndpoint(html), args: known(), exit: 8, code: "NOT_FOUND", store: thePrompt,
		what: `model request failed: NOT_FOUND \(HTTP 200\): .*`, do: `http://127.0.0.1:\d+/v1 is not a Chat Completions endpoint: check base_url, .*`},
	{name: "HTML, model unknown", setUp: withEndpoint(html), args: task(), exit: 8, code: "NOT_FOUND",
		what: `model request failed: NOT_FOUND.*`, do: `.*check base_url.*`},
	{name: "unknown model", setUp: withEndpoint(status(404, `{"error":{"message":"The model m does not exist","code":"model_not_found"}}`)), args: known(), exit: 8, code: "NOT_FOUND", store: thePrompt,
		what: `model request failed: NOT_FOUND \(HTTP 404\): The model m does not exist \[model_not_found\]`, do: `check the model name "m": http://127.0.0.1:\d+/v1/models lists what is served`},
	{name: "long Retry-After", setUp: withEndpoint(later), args: known(), exit: 8, code: "RATE_LIMIT", store: thePrompt,
		what: `model request failed: RATE_LIMIT \(HTTP 429\): Too many requests.*`, do: `.*1h0m0s.*`},
	{name: "no money left", setUp: withEndpoint(status(402, `{"error":{"message":"Insufficient balance"}}`)), args: known(), exit: 8, code: "QUOTA", store: thePrompt,
		what: `model request failed: QUOTA \(HTTP 402\): Insufficient balance`, do: `check the balance and limits of the account at 127.0.0.1:\d+`},
	{name: "500 for ever", setUp: withEndpoint(status(500, `{"error":{"message":"Internal server error"}}`)), args: known("retry.max_retries=1"), exit: 8, code: "SERVER", store: thePrompt,
		what: `model request failed: SERVER \(HTTP 500\): Internal server error`, do: `.+`},
	{name: "stream cut for ever", setUp: withModel(answers(scripted.Reply{Text: "half of what I wanted to say", DropAfter: 2})), args: known("retry.max_retries=1"), exit: 8, code: "STREAM_CLOSED", store: thePrompt,
		what: `model request failed: STREAM_CLOSED: the stream ended without a finish reason, after an unfinished answer`, do: `.+`},
	{name: "empty answers", setUp: withModel(answers(scripted.Reply{})), args: known("retry.max_retries=1"), exit: 8, code: "EMPTY_RESPONSE", store: thePrompt,
		what: `model request failed: EMPTY_RESPONSE.*`, do: `.+`},
	{name: "answer cut off", setUp: withModel(answers(scripted.Reply{Text: "half an ans", Finish: "length"})), args: known(), exit: 10, code: "MAX_TOKENS", store: thePrompt,
		what: `the answer was cut off at the output limit`, do: `raise it: .*`},
}

// ---- the store

var badStores = []badInput{
	{name: "store that is a file", setUp: func(t *testing.T, u *sandbox) { write(t, u.path("data"), "") }, args: task(), exit: 9, code: "SESSION_STORE",
		what: `session store \S+/data: it is a file`, do: `name a directory`},
	{name: "store that is read-only", setUp: readOnly, shell: asNobody, args: known(), exit: 9, code: "SESSION_NOT_WRITABLE",
		what: `session \S+: .*permission denied`, do: `make the directory writable or choose another`},
	{name: "no room for a session", setUp: withModel(answers()), shell: `ulimit -f 8; exec "$@"`, args: known(), exit: 9, code: "SESSION_STORE",
		what: `session \S+: create: .*file too large`, do: `check the free space .*`},
	{name: "no room for what comes", setUp: withModel(answers(scripted.Reply{Calls: []scripted.Call{{Name: "glob", Arguments: `{"pattern":"*"}`}}})), shell: `ulimit -f 250; exec "$@"`,
		args: known(), exit: 9, code: "SESSION_STORE", store: thePrompt,
		what: `.*session \S+: .*nothing was written`, do: `check the disk and its free space`},
	{name: "damaged session", setUp: withSession(func(t *testing.T, u *sandbox) { write(t, u.path("data", "sessions", u.lastSession()+".db"), "rubbish") }), args: []string{"resume", "last", asked},
		exit: 9, code: "SESSION_DAMAGED", store: unchanged, what: `session \S+: .*file is not a database \(26\); the file stays as it is`, do: `tureen session verify \S+ says what is wrong, tureen session salvage \S+ rescues what is whole`},
	{name: "newer session", setUp: withSession(newer), args: []string{"resume", "last", asked}, exit: 9, code: "SESSION_NEWER", store: unchanged,
		what: `session \S+: .*store schema 99, this version knows up to \d+.*`, do: `use a newer tureen`},
	{name: "session of another process", setUp: withSession(taken), args: []string{"resume", "last", asked}, exit: 9, code: "SESSION_LOCKED", store: unchanged,
		what: fmt.Sprintf(`session \S+ is in use by pid %d on \S+`, os.Getpid()), do: `wait until that process is done; .*`},
	{name: "no session at all", args: []string{"resume", "last", asked}, exit: 9, code: "SESSION_NOT_FOUND",
		what: `there is no session so far`, do: `start one: tureen run "PROMPT"`},
	{name: "wrong session", setUp: withSession(nil), args: []string{"resume", "zzz", asked}, exit: 9, code: "SESSION_NOT_FOUND", store: unchanged,
		what: `there is no session "zzz"`, do: `tureen session list shows which there are`},
	{name: "session that is a path", setUp: withSession(nil), args: []string{"session", "show", "../../etc/passwd"}, plain: true, exit: 9, store: unchanged,
		what: `there is no session "../../etc/passwd"`, do: `tureen session list shows which there are`},
	{name: "ambiguous session", setUp: withSession(func(t *testing.T, u *sandbox) { makeSession(t, u) }), args: []string{"resume", "0", asked}, exit: 9, code: "SESSION_AMBIGUOUS", store: unchanged,
		what: `several sessions begin with "0": \w{26}, \w{26}`, do: `give more of the id`},
}

// ---- set-ups

func mkdir(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// known is a task for an endpoint that need not be asked for its models.
func known(overrides ...string) []string {
	return with(append(overrides, "model.name=m", "model.context_window=32000", "model.max_output_tokens=2000")...)
}

// answers is a model that says the same again and again.
func answers(replies ...scripted.Reply) scripted.Agent {
	return scripted.AgentFunc(func(llm.Request) scripted.Reply {
		if len(replies) == 0 {
			return scripted.Reply{Text: "ok"}
		}
		return replies[0]
	})
}

// withModel lets the scripted model "m" answer.
func withModel(agent scripted.Agent) func(*testing.T, *sandbox) {
	return func(t *testing.T, u *sandbox) {
		server, err := scripted.Serve(t.Context(), scripted.Options{Model: "m", ContextWindow: 32000, MaxOutputTokens: 2000, Agent: agent})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		u.env = append(u.env, "OPENAI_BASE_URL="+server.BaseURL(), "OPENAI_API_KEY=any")
	}
}

// withEndpoint lets a handler answer.
func withEndpoint(h http.HandlerFunc) func(*testing.T, *sandbox) {
	return func(t *testing.T, u *sandbox) {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		u.env = append(u.env, "OPENAI_BASE_URL="+server.URL+"/v1", "OPENAI_API_KEY=any")
	}
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintln(w, body)
	}
}

func html(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintln(w, "<!DOCTYPE html><html><head><title>Welcome</title></head><body>It works!</body></html>")
}

func later(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "3600")
	status(429, `{"error":{"message":"Too many requests","code":"rate_limit_exceeded"}}`)(w, r)
}

// faultyProfile writes p.toml with a faulty plugin whose row has some keys more.
func faultyProfile(fault, row string) func(*testing.T, *sandbox) {
	return func(t *testing.T, u *sandbox) {
		faulty(t, u, fault)
		write(t, u.path("work", "p.toml"), "schema = 1\nextends = \"base\"\n[compaction]\nstrategy = \"none\"\n[model]\nmax_output_tokens = 2000\nname = \"m\"\ncontext_window = 32000\n[[plugins]]\nuse = \"./"+fault+"\"\n"+row+"\n")
		withModel(answers())(t, u)
	}
}

// makeSession stores a session that was never run.
func makeSession(t *testing.T, u *sandbox) session.Log {
	t.Helper()
	store, err := sqlitelog.Open(u.path("data"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	id := fmt.Sprintf("0%025x", time.Now().UnixNano())
	log, err := store.Create(t.Context(), session.Created{ID: id, Workspace: u.path("work"), Profile: "none", Strategy: "none", Title: "t", Time: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
	return log
}

// withSession makes a session and then something of it.
func withSession(then func(*testing.T, *sandbox)) func(*testing.T, *sandbox) {
	return func(t *testing.T, u *sandbox) {
		makeSession(t, u)
		if then != nil {
			then(t, u)
		}
	}
}

// newer makes the session one of a later version.
func newer(t *testing.T, u *sandbox) {
	db, err := sql.Open("sqlite", u.path("data", "sessions", u.lastSession()+".db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
}

// taken makes this process the owner of the session.
func taken(t *testing.T, u *sandbox) {
	store, err := sqlitelog.Open(u.path("data"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Open(context.Background(), u.lastSession())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close(); store.Close() })
}

// asNobody runs the program as a user who is not root.
const asNobody = `if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else exec "$@"; fi`

// readOnly takes the right to write the store, and lets everybody else in.
func readOnly(t *testing.T, u *sandbox) {
	withModel(answers())(t, u)
	mkdir(t, u.path("data"))
	for path, mode := range map[string]os.FileMode{u.dir: 0o755, u.path("data"): 0o555, u.path("tmp"): 0o777, u.path("run"): 0o777, u.path("home"): 0o777, u.path("work"): 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
}
