# make run       build gophd and serve ./content on port 7070
# make test      what must pass before a change is taken, in minutes
# make test-all  what takes longer: packages, other systems, the slow tests
# make build lint unit fuzz cross bench cores load soak soak-long gluster man install packages test-packages clean

TAGS    := urfave_cli_no_docs
TOOL    := go tool -modfile=tools/go.mod
FUZZ    ?= 60s
TREES   ?= 200000
VERSION := $(shell cat VERSION)
ARCHS   := amd64 arm64
GOBUILD := CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -ldflags "-s -w -X main.buildVersion=$(VERSION)"
# Programs of packages that are only unpacked (test/deps).
PROGRAMS := $${XDG_CACHE_HOME:-$$HOME/.cache}/gophd/programs/bin
# Not from the cache (-count 1): go test does not see what the program that tests
# start was built from, nor what go list told them. What is left out is listed. Of two
# thousand tests one may fail because a busy machine kept it waiting: up to two failures
# are tried once more, and both runs are told; a data race or a third failure is final.
GOTEST  = PATH=$$PATH:$(PROGRAMS) $(TOOL) gotestsum --format standard-quiet --rerun-fails=1 \
	--rerun-fails-max-failures=2 --rerun-fails-abort-on-data-race --packages "$(1)" -- -count 1 -tags $(TAGS)

.PHONY: build run test test-all plain race slow gluster cross lint unit fuzz bench cores load soak soak-long man install packages test-packages clean

build:
	@$(GOBUILD) -o bin/gophd ./cmd/gophd

run: build
	@bin/gophd -root ./content -listen :7070

# What must be there beside Go is fetched first (test/deps). Without root, and without Debian,
# the tests that need more are left out, and listed at the end.
test:
	@test/deps && export GOPHD_ACCEPTANCE=1; $(MAKE) --no-print-directory lint && $(MAKE) --no-print-directory -j2 plain race

# Without the race detector, the longest first: tests of a process, which is built
# without it, and packages that start no goroutine, whose property tests take ten
# times as long with it. answer and server are tried in both ways: what memory a
# reply costs can be told without it only.
PLAIN := ./test/e2e/... ./policy/... ./cmd/... ./robots ./robots/convert ./menu ./internal/layout
plain:
	@$(call GOTEST,$(PLAIN) ./answer ./server) -p 3 -parallel 8

race:
	@others=$$(go list ./... | grep -vxF "$$(go list $(PLAIN))"); $(call GOTEST,$$others) -race -p 3 -parallel 8

# At most 15 minutes: the slow tests, those that start gophd again with a gophd
# that watches for races, the packages, other systems. Fuzzing is make fuzz.
test-all:
	@GOPHD_ALL=1 test/deps && export GOPHD_ACCEPTANCE=1; $(MAKE) --no-print-directory slow test-packages cross

slow:
	go build -race -tags $(TAGS) -o bin/race/gophd ./cmd/gophd
	GOPHD_BIN=$(CURDIR)/bin/race/gophd GOPHD_ALL=1 GORACE=atexit_sleep_ms=0 $(call GOTEST,./test/e2e ./policy/...) -timeout 12m -skip '^TestGlusterFS$$'
	GOPHD_BIN=$(CURDIR)/bin/race/gophd GOPHD_ALL=1 $(call GOTEST,./test/e2e/hostile) -run '^TestProgress$$'

# One tree on two machines, with a brick and a machine taken away: minutes, as root.
gluster:
	@GOPHD_ALL=1 test/deps && PATH=$$PATH:$(PROGRAMS) GOPHD_ALL=1 go test -count 1 -v -run '^TestGlusterFS$$' -tags $(TAGS) ./test/e2e

cross:
	@for to in linux/arm64 linux/mips freebsd/amd64 openbsd/amd64 netbsd/amd64 darwin/arm64; do \
		echo "build for $$to"; CGO_ENABLED=0 GOOS=$${to%/*} GOARCH=$${to#*/} go build -tags $(TAGS) ./... || exit 1; done

unit:
	go test -tags $(TAGS) ./...

lint:
	@out=$$(gofmt -l . | grep -v '^tools/'); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	go mod tidy -diff
	go vet -tags $(TAGS) ./...
	$(TOOL) staticcheck -checks all -tags $(TAGS) ./...
	$(TOOL) golangci-lint run --build-tags $(TAGS) ./...

# The guarantee on TREES random trees, then each fuzz target for FUZZ. A tree
# that fails is printed with the seed that makes it again. A worker that a busy
# machine keeps from ending in time fails without an input: it gets a second try.
fuzz:
	go test ./policy -run '^(TestReaders|TestLawsPlain|TestLawsVile)$$' -timeout 60m -rapid.checks=$(TREES)
	@set -e; for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "fuzz $$pkg $$target $(FUZZ)"; \
			fuzz() { out=$$(go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ) -fuzzminimizetime 10x $$pkg); }; \
			fuzz || { echo "$$out" | grep -q 'context deadline exceeded' && fuzz; } || { echo "$$out"; exit 1; }; \
		done; \
	done

# End to end beside other servers, then each hot function, then robots beside
# other matchers, which are in a module of their own.
# GOOGLE_ROBOTS names google's own program, if it is to be measured, too.
bench: build
	go run ./internal/bench -rounds 1 -time 500ms bin/gophd
	go run ./internal/bench -ways -rounds 3 -time 500ms bin/gophd
	go run ./internal/bench -large 100000 bin/gophd
	go test -run '^$$' -bench . -benchmem -benchtime 30ms ./...
	cd robots/bench && go test -bench . -benchtime 30ms

# What a tree of LARGE directories and ten times as many files costs.
LARGE ?= 100000
large: build
	go run ./internal/bench -large $(LARGE) bin/gophd

# Two loops beside one, on a machine with nothing else to do. Real-time priority, which
# wants root, keeps away what there is all the same.
cores:
	GOPHD_ALL_PROCESSORS=1 go test -count 1 -v -tags $(TAGS) -exec 'chrt -f 20' -run '^TestAllProcessors$$' ./test/e2e

# 256 connections with everything at once for a minute, twice: the second time
# while 10,000 directories are read again without pause.
load: build
	go run ./internal/bench -mix 60s bin/gophd

# Ten thousand clients of each bad habit, an author of each, a flood: six minutes.
soak:
	GOPHD_SOAK=10000 go test -count 1 -v -run '^TestSoak(Authors|Proxied)?$$' -timeout 12m ./test/e2e/hostile

# Everything at once for LONG: readers, authors, hostile clients, and faults.
LONG ?= 30m
soak-long:
	GOPHD_SOAK_LONG=$(LONG) go test -count 1 -v -run '^TestSoakLong$$' -timeout 3h ./test/e2e/hostile

# The pages of doc/ as manual pages.
man: bin/gophd.8 bin/robots.5

bin/%: doc/%.md
	@mkdir -p bin
	@$(TOOL) go-md2man -in $< -out $@

# Copies what "make build man" has made: it needs no Go, so that the one may be
# done by a user and the other by root.
PREFIX ?= /usr/local
SHARE  := $(DESTDIR)$(PREFIX)/share
install:
	@for f in bin/gophd bin/gophd.8 bin/robots.5; do [ -f $$f ] || { \
		echo "make install: $$f is not there"; echo "hint: run 'make build man' first, as the user who has Go"; exit 1; }; done
	install -D -m 755 bin/gophd $(DESTDIR)$(PREFIX)/bin/gophd
	install -D -m 644 bin/gophd.8 $(SHARE)/man/man8/gophd.8
	install -D -m 644 bin/robots.5 $(SHARE)/man/man5/robots.5
	install -D -m 644 packaging/completions/gophd.bash $(SHARE)/bash-completion/completions/gophd
	install -D -m 644 packaging/completions/_gophd $(SHARE)/zsh/site-functions/_gophd
	install -D -m 644 packaging/completions/gophd.fish $(SHARE)/fish/vendor_completions.d/gophd.fish

# Packages for Debian, Fedora, Alpine and Arch, and an OCI image, in bin/packages.
# The same source gives the same bytes: everything has the time of the last
# commit, or SOURCE_DATE_EPOCH.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date -r VERSION +%s)
PACKAGES ?= $(CURDIR)/bin/packages
packages: man
	@for arch in $(ARCHS); do GOOS=linux GOARCH=$$arch $(GOBUILD) -buildvcs=false -o bin/linux-$$arch/gophd ./cmd/gophd || exit 1; done
	@cd packaging && go run . -version $(VERSION) -date $(SOURCE_DATE_EPOCH) -out $(PACKAGES) -archs $(shell echo $(ARCHS) | tr ' ' ,)

# The packages, tried in a clean Debian tree that is made once and kept in the cache.
test-packages: packages
	GOPHD_PACKAGES=$(PACKAGES) go test -count 1 -timeout 20m -run '^Test(Package|Install)' ./test/e2e

clean:
	rm -rf bin
