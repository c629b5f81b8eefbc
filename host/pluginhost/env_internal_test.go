package pluginhost

import (
	"strings"
	"testing"
)

// C127: the shell's commands get the user's environment; what looks like a secret by
// its name or its value is left out, and what only resembles one is not.
func TestM25_C127_WhatLooksLikeASecret(t *testing.T) {
	t.Parallel()
	for pair, want := range map[string]bool{
		"OPENAI_API_KEY=x": true, "aws_secret_access_key=x": true, "GITHUB_TOKEN=x": true, "DB_PASS=x": true, "MYSQL_PWD=x": true, "npm_config__auth=x": true,
		"GITHUB_PAT=x": true, "SESSION_COOKIE=x": true, "SLACK_WEBHOOK_URL=https://hooks.example.org/x": true,
		"A=postgres://app:secret@db/app": true, "A=redis://:secret@cache": true, "A=https://secret@git.example.org/x": true, "A=x https://u:p@h/y": true,
		"A=https://h/?v=1&api_key=secret": true, "A=https://h/?sig=secret": true, "A=amqp://q/?password=secret": true, "A=host=db password=secret": true, "A=Server=db;Pwd=secret": true,

		"HOME=/home/u": false, "SSH_AUTH_SOCK=/run/agent": false, "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus,guid=1": false, "A=ssh://git@git.example.org/x": false,
		"LS_COLORS=rs=0:di=01;34:*.sig=01;31": false, "A=https://h/?v=1&key=": false, "GOPROXY=https://proxy.example.org,direct": false, "PATTERN=a|b": false,
		"BASH_FUNC_f%%=() { local key=$1; token=$2; }": false, "A=user@example.org": false, "COMPASS=north": false,
	} {
		if name, value, _ := strings.Cut(pair, "="); looksSecret(name, value) != want {
			t.Errorf("%s: secret is %v, want %v", pair, !want, want)
		}
	}
}
