# Everything the project needs is here: `make help` lists it.
GO ?= go
export CGO_ENABLED ?= 1

.PHONY: help build test lint bench torture

help:    ## list the targets
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

build:   ## ./octopus, static, as it is released
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o octopus ./cmd/octopus

test:    ## install what the tests need, then run all: race detector first, then as shipped
	scripts/test

lint:    ## gofmt, go vet, staticcheck; govulncheck where its database can be reached
	scripts/lint

bench:   ## pages/s and CPU-seconds per 1,000 pages, stage by stage; 600 M keys in three windows
	scripts/bench
	cd bench && go run ./seen -only window

torture: ## the long crash campaigns: crawls and container, killed and cut off a thousand times
	scripts/torture
