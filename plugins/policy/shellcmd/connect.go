package shellcmd

import (
	"regexp"
	"strings"
)

// connects are the words by which code of many languages reaches other machines.
var connects = regexp.MustCompile(`(?i)\b(import|from|require|use|using)\b[^\n;]*\b(socket|urllib\d?|requests|httpx|aiohttp|ftplib|smtplib|telnetlib|xmlrpc|paramiko|websockets?|axios|undici|node-fetch|http\.client|pip)\b` +
	`|\burllib\.|\bsocket\.|\brequests\.(get|post|put|patch|delete|head|request|session)|http\.client|\bhttpx\.|aiohttp|ftplib|smtplib|urlopen|urlretrieve` +
	`|\bfetch\s*\(|['"](node:)?(net|http|https|http2|dgram|tls)['"]|\bhttps?\.(get|request)\b|XMLHttpRequest|WebSocket` +
	`|IO::Socket|\bLWP\b|HTTP::Tiny|Net::(HTTP|FTP|SMTP|SSH)|open-uri|URI\.open|TCPSocket|UDPSocket|fsockopen|stream_socket_client|curl_init|curl_exec|(file_get_contents|fopen|copy|readfile|file)\s*\(\s*['"](https?|ftp):`)

// removes are the words by which code removes files.
var removes = regexp.MustCompile(`(?i)unlink|rmtree|remove_tree|\brmdir|rmsync|removedirs|\brm_rf?\b|rimraf|\bos\.remove|import remove\b|fileutils\.(rm|remove)|\bfs\w*\.rm|\.rm\(|promises\.rm|\bfile\.delete|\bdir\.(delete|rmdir)`)

// remote is a word that names another machine: a URL, or user@host:path.
var (
	url    = regexp.MustCompile(`(^|=)[A-Za-z][A-Za-z0-9+.-]*://(\[[0-9A-Fa-f:.]*\]|[^/?#]*)`)
	remote = regexp.MustCompile(`^([A-Za-z0-9._-]+@[A-Za-z0-9.-]+:|[A-Za-z0-9][A-Za-z0-9.-]*:/[^/])`)
)

// local are the names of this machine.
var local = regexp.MustCompile(`^(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(:[0-9]*)?$`)

// elsewhereURL tells whether a word names another machine.
func elsewhereURL(text string) bool {
	if m := url.FindStringSubmatch(text); m != nil {
		return !strings.HasPrefix(strings.ToLower(strings.TrimPrefix(m[0], "=")), "file:") && !local.MatchString(m[2])
	}
	return false
}

// named looks for other machines among the words of a program.
func named(base string, args []word) []Concern {
	tar := base == "tar" || base == "gtar" || base == "cpio"
	quiet := quietPrograms[base] && !urlPrograms[base]
	if quiet || readers[base] || shells[base] && mentions(args, "-c") {
		return nil
	}
	for _, a := range args {
		if strings.ContainsAny(a.text, " \n") {
			continue // a text, which is looked at otherwise
		}
		file := tar && strings.Contains(strings.SplitN(a.text, "/", 2)[0], ":") && !strings.HasPrefix(a.text, "--")
		if elsewhereURL(a.text) || file || remote.MatchString(a.text) && !containers[base] && !tar {
			return []Concern{{Network, "it names another machine"}}
		}
	}
	return nil
}

// containers have names that stand before a path of theirs.
var containers = set("docker podman nerdctl")

// urlPrograms do not run their words, but may follow a URL among them.
var urlPrograms = set("deno bun psql mysql")

// stays tells whether a program that reaches other machines is only told of this
// one, by words that are all known.
func (w *walker) stays(base string, args []word) bool {
	if w.facts.proxy {
		return false
	}
	if base == "npx" {
		return len(args) > 0 && localTools[args[0].text] && w.exists([]string{"node_modules/.bin", args[0].text})
	}
	here := 0
	for i, a := range args {
		text := a.text
		if m := url.FindStringSubmatch(text); m != nil && m[1] == "" {
			if scheme := strings.ToLower(text); !local.MatchString(m[2]) || !strings.HasPrefix(scheme, "http:") && !strings.HasPrefix(scheme, "https:") && !strings.HasPrefix(scheme, "ws") {
				return false
			}
			here++
			continue
		}
		switch {
		case a.unknown || a.glob:
			return false
		case strings.HasPrefix(text, "-"):
			if !plainOption[text] && !quietCluster.MatchString(text) {
				return false
			}
		case i > 0 && valuedOption[args[i-1].text] && (base == "curl" || base == "wget"):
		case local.MatchString(strings.SplitN(text, "/", 2)[0]):
			here++
		case (base == "nc" || base == "ncat" || base == "redis-cli") && strings.Trim(text, "0123456789") == "":
		default:
			return false
		}
	}
	return here > 0
}

var (
	loopback     = set("npx curl wget nc ncat ping ping6 http xh")
	localTools   = set("tsc eslint vitest jest prettier")
	plainOption  = set("--silent --fail --show-error --head --include --verbose --max-time --connect-timeout --retry --request --header --data --data-raw --json --write-out --quiet --get --compressed -q -O- -qO-")
	quietCluster = regexp.MustCompile(`^-([sSfiIvzGnN]+|[sSfiIvG]*[XHdwm]|c[0-9]+|w[0-9]+)$`)
	valuedOption = set("--max-time --connect-timeout --retry --request --header --data --data-raw --json --write-out -m -X -H -d -w -sX -sH -sd -sw -sm -fsX -isX")
)
