# make run        build gophd and serve ./content on port 7070
# make test       what must pass before a change is taken, in minutes; installs nothing
# make again      the tests that failed, once more, one at a time
# make test-deps  gets the programs that tests use besides Go
# make test-all   what make test leaves out: linters, programs, slow tests, packages, other systems
# make build lint unit fuzz cross bench soak small-memory soak-long gluster man install packages test-packages clean

TAGS    := urfave_cli_no_docs
TOOL    := go tool -modfile=tools/go.mod
FUZZ    ?= 60s
TREES   ?= 200000
VERSION := $(shell cat VERSION)
ARCHS   := amd64 arm64
GOBUILD := CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -ldflags "-s -w -X main.buildVersion=$(VERSION)"
# Not from the cache (-count 1): go test sees neither what the program that tests start
# was built from, nor what go list printed. check has vetted everything.
TEST    := go run ./test/run
FLAGS   := -count 1 -tags $(TAGS) -vet off -p 3 -parallel 8 -timeout 40m

.PHONY: build run test again test-deps test-all all modules kit-check kit-trees race-detector cross check lint unit trees fuzz mutants bench soak small-memory soak-long gluster moving man install packages test-packages clean

build:
	@$(GOBUILD) -o bin/gophd ./cmd/gophd

run: build
	@bin/gophd -root ./content -listen :7070

# Without the race detector, which slows them ten times: tests of a process, which is built
# without it, and packages that start no goroutine. answer and server run in both ways:
# the memory that a reply costs is only right without it.
PLAIN  := ./test/e2e/... ./policy/... ./cmd/... ./robots ./robots/convert ./menu ./test/layout ./internal/search ./internal/source/sitesearch
OTHERS = $$(go list ./... | grep -vxF "$$(go list $(PLAIN))" | tr '\n' ' ')

test: check
	@rm -f bin/failed; if go build -race runtime/cgo 2>/dev/null; \
	then $(TEST) -- "$(FLAGS) -- $(PLAIN) ./answer ./server" "$(FLAGS) -race -- $(OTHERS)"; \
	else $(TEST) -note "without the race detector: it needs a C compiler" -- "$(FLAGS) -- ./..."; fi

again:
	@$(TEST) -again

test-deps:
	@test/deps

# At most 15 minutes. The tests of a process run with a gophd that watches for races.
test-all: lint race-detector all modules test-packages cross

# Every robots.txt parser that can be had here beside ours, into doc/agreement.md. PYTHONS
# names interpreters, NODE_PATH where robots-parser lies.
kit-check:
	cd robots/bench && go build -o ../../bin/robots-answer ./answer
	go run ./test/kitcheck
	go test ./test/kitcheck -run TestAgreement -update
	git --no-pager diff --stat -- doc/agreement.md test/kitcheck

# The same parsers on KIT_TREES files that are compiled of random annotations: none that a
# row of readers describes may be let in where the policy denies and no report names it.
KIT_TREES ?= 2000
kit-trees:
	@mkdir -p bin
	cd robots/bench && go build -o ../../bin/robots-answer ./answer
	go test ./policy -count 1 -run '^TestQuestions$$' -timeout 1h -sites $(KIT_TREES) -questions $(CURDIR)/bin/questions.jsonl
	COMPILED=bin/questions.jsonl go run ./test/kitcheck

# The modules of their own: robots beside other matchers and crawlers, a Store in SQLite.
modules:
	cd robots/bench && go vet . && go test .
	cd examples/sqlitestore && go vet . && go test .

race-detector:
	go build -race -tags $(TAGS) -o bin/race/gophd ./cmd/gophd

all:
	@rm -f bin/failed; TEST_GOPHD_BIN=$(CURDIR)/bin/race/gophd TEST_GOPHD_ALL=1 GORACE=atexit_sleep_ms=0 $(TEST) -- \
		"$(FLAGS) -skip '^TestGlusterFS$$|^TestSoak|^TestSmallMemory$$' -- ./test/e2e/... ./policy/... ./cmd/..." "$(FLAGS) -race -- $(OTHERS)"

# One tree on two machines, with a brick and a machine taken away: minutes, as root.
gluster:
	@TEST_GOPHD_ALL=1 go test -count 1 -v -run '^TestGlusterFS$$' -tags $(TAGS) ./test/e2e

# Other systems: vet compiles the tests, too.
cross:
	@for to in freebsd/amd64 openbsd/amd64 netbsd/amd64 darwin/arm64; do \
		echo "vet for $$to"; CGO_ENABLED=0 GOOS=$${to%/*} GOARCH=$${to#*/} go vet -tags $(TAGS) ./... || exit 1; done
	@for to in linux/arm64 linux/mips; do \
		echo "build for $$to"; CGO_ENABLED=0 GOOS=$${to%/*} GOARCH=$${to#*/} go build -tags $(TAGS) ./... || exit 1; done

unit:
	go test -tags $(TAGS) ./...

check:
	@out=$$($$(go env GOROOT)/bin/gofmt -l . | grep -v '^tools/'); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	go vet -tags $(TAGS) ./...

lint: check
	go mod tidy -diff
	$(TOOL) staticcheck -checks all -tags $(TAGS) ./...
	$(TOOL) golangci-lint run --build-tags $(TAGS) ./...

# The guarantee on TREES random trees, judged by the proof's own reading of the
# annotations. A tree that fails is printed with its number: FIRST=number TREES=1.
FIRST ?= 0
trees:
	go test ./policy -count 1 -run '^Test(Laws|DrawnRows)$$' -timeout 24h -sites $(TREES) -first $(FIRST)

# Each fuzz target for FUZZ. A worker that a busy machine keeps from ending in time fails
# without an input: it gets a second try.
fuzz:
	@set -e; for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "fuzz $$pkg $$target $(FUZZ)"; \
			fuzz() { out=$$(go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ) -fuzzminimizetime 10x $$pkg); }; \
			fuzz || { echo "$$out" | grep -q 'context deadline exceeded' && fuzz; } || { echo "$$out"; exit 1; }; \
		done; \
	done

# Faults put into the proof, each of which its tests must notice; then MUTANTS of each
# package, of which nine of ten must be: by its own tests, or by those of all fronts.
MUTANTS ?= 40
mutants:
	go build -C tools -o ../bin/mutate ./mutate
	bin/mutate -faults policy/internal/proof/testdata/faults.json ./policy/internal/proof
	bin/mutate -n $(MUTANTS) ./policy/internal/proof
	bin/mutate -n $(MUTANTS) ./policy -- -sites 20 -- -sites 60
	for p in answer answer/gopher internal/front/smallnet internal/front/web menu site server; do \
		echo "$$p:"; bin/mutate -n $(MUTANTS) -timeout 10m ./$$p -- -- -short ./answer/... ./internal/front/... \
			|| lives=1; done; [ -z "$$lives" ]

# A large tree end to end, then each hot function, then robots beside
# other matchers, which are in a module of their own.
# GOOGLE_ROBOTS names google's own program, if it is to be measured, too.
bench: build
	go run ./test/bench -large 100000 bin/gophd
	go test -run '^$$' -bench . -benchmem -benchtime 30ms ./...
	cd robots/bench && go test -bench . -benchtime 30ms

# What a tree of LARGE directories and ten times as many files costs.
LARGE ?= 100000
large: build
	go run ./test/bench -large $(LARGE) bin/gophd

# Ten thousand clients of each bad habit, an author of each: six minutes.
soak:
	TEST_GOPHD_SOAK=10000 go test -count 1 -v -run '^TestSoak(Authors)?$$' -timeout 12m ./test/e2e/hostile

# A gophd in a control group of 400 MiB, as root; one with a race detector does not fit.
small-memory:
	TEST_GOPHD_ALL=1 go test -count 1 -v -run '^TestSmallMemory$$' -timeout 20m ./test/e2e/hostile

# Everything at once for LONG: readers, authors, hostile clients, and faults.
LONG ?= 30m
soak-long:
	TEST_GOPHD_SOAK_LONG=$(LONG) go test -count 1 -v -run '^TestSoakLong$$' -timeout 3h ./test/e2e/hostile

# The public holes of doc/moved.md, moved from gophernicus and pygopherd. HOLES is the
# directory that they are fetched into; their programs are not run.
moving:
	@TEST_GOPHD_ALL=1 go test -count 1 -v -run '^TestMovingIn$$' -timeout 3h -tags $(TAGS) ./test/e2e -holes $(abspath $(HOLES)) -update

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
	install -d $(SHARE)/gophd/systemd
	install -m 644 examples/systemd/* $(SHARE)/gophd/systemd
	install -d $(SHARE)/gophd/manual $(SHARE)/gophd/examples
	install -m 644 content/manual/* $(SHARE)/gophd/manual
	cp -R examples/fastcgi examples/fail2ban examples/monitoring $(SHARE)/gophd/examples/
	install -D -m 644 packaging/completions/gophd.bash $(SHARE)/bash-completion/completions/gophd
	install -D -m 644 packaging/completions/_gophd $(SHARE)/zsh/site-functions/_gophd
	install -D -m 644 packaging/completions/gophd.fish $(SHARE)/fish/vendor_completions.d/gophd.fish

# Packages for Debian, Fedora, Alpine and Arch, and an OCI image, in bin/packages.
# The same source gives the same bytes: everything has the time of the last
# commit, or SOURCE_DATE_EPOCH.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date -r VERSION +%s)
PACKAGES ?= $(CURDIR)/bin/packages
packages: man
	@echo "gophd $(VERSION): packages for Debian, Fedora, Alpine and Arch, and an OCI image, for $(ARCHS), into $(PACKAGES)"
	@for arch in $(ARCHS); do echo "building bin/linux-$$arch/gophd"; GOOS=linux GOARCH=$$arch $(GOBUILD) -buildvcs=false -o bin/linux-$$arch/gophd ./cmd/gophd || exit 1; done
	@cd packaging && go run . -version $(VERSION) -date $(SOURCE_DATE_EPOCH) -out $(PACKAGES) -archs $(shell echo $(ARCHS) | tr ' ' ,)

# The packages, tried in a clean Debian tree that is made once and kept in the cache.
test-packages: packages
	@rm -f bin/failed; TEST_GOPHD_ALL=1 TEST_GOPHD_PACKAGES=$(PACKAGES) $(TEST) -- "-count 1 -tags $(TAGS) -timeout 40m -run '^Test(Package|Install)' -- ./test/e2e"

clean:
	rm -rf bin
