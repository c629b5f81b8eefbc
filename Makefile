# The version of staticcheck that `make lint` and .ci/run use.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# What runs several goroutines over shared state.
CONCURRENT := ./host ./host/agent/... ./host/session/... ./host/pluginhost/...

# An older Go fetches the one that go.mod names, also where Debian pins it.
export GOTOOLCHAIN ?= auto

.PHONY: help build setup test test-race soak bench lint proto verify-proto

help: ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

build: ## build ./tureen
	go build -o tureen ./cmd/tureen

setup: ## install by package name what the tests need (apt-get)
	@.ci/setup

test: setup ## run all tests
	go test -timeout 20m ./...

test-race: ## run the tests of the concurrent packages with the race detector
	@.ci/setup race
	go test -race -timeout 30m $(CONCURRENT)

soak: ## kill hosts and plugins 500 times and count what is lost; ARGS='-seed 7 -kills 2000'
	go test -C cmd/tureen -tags soak -run Soak -count=1 -parallel 2 -timeout 30m -args $(ARGS)

bench: ## measure a step, start, resume, resets, memory and disk against floors; ARGS='-rounds 3 -steps 200'
	go build -o .bin/tureen ./cmd/tureen
	go run ./cmd/bench -bin .bin/tureen -out bench.json $(ARGS)

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -d . ; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...

proto: setup ## make the Go code and the descriptor set of plugin.proto
	@.ci/proto

verify-proto: setup ## fail where they are not what plugin.proto says
	@.ci/proto verify
