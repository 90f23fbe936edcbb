# agentscript: `make` builds the command, `make test` tests it, `make run` shows a flow.
#
# The product builds and passes its tests without cgo. Only the race detector needs a C compiler.

GO          ?= go
BIN         := bin/agentscript
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS     := -s -w -funcalign=16 $(if $(VERSION),-X main.version=$(VERSION))
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# vet reads the code of every system, and .ci/run builds for every system and architecture, though not for every pair.
VETTED      := linux/amd64 darwin/arm64 windows/amd64
TARGETS     := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
EXAMPLE     ?= examples/review.star "def f(): pass" --scripted examples/review.jsonl
FUZZTIME    ?= 30s
# The development server of Temporal, and the prefix that runs tests without a server.
SERVER      ?= bin/agentscript-temporal-devserver
NOSERVER    := env -u AGENTSCRIPT_TEMPORAL_SERVER -u AGENTSCRIPT_TEMPORAL
BENCH       ?= .
BENCHTIME   ?= 1s
COUNT       ?= 1
TESTFLAGS   ?=

# The tests that drive the finished product: the command's scripts, the examples, the promises.
E2E := $(addsuffix /...,$(addprefix ./,$(wildcard cmd internal/cli examples internal/conformance)))

# All packages, the longest tests first: two packages at a time, no core waits at the end for one that started last.
ALL := ./internal/conformance ./internal/cli ./...

export CGO_ENABLED := 0
# With -trimpath everywhere, all targets and the commands that the tests build share compiled packages.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)

# The released command disables inlining where speed does not matter: the command line, the terminal, MCP, HTTP and TLS. Code in
# which a run, the decoder and the check spend their time keeps it, and so does SQLite, which is larger without. The last pattern
# that matches a package wins. Functions are aligned to 16 bytes instead of 32. docs/decisions.md has the figures.
P       := github.com/agentscript/agentscript
COLD    := github.com/... net/... vendor/... crypto/tls crypto/x509 database/sql/... encoding/asn1 encoding/gob text/template/...
HOT     := $(addprefix $P/engine,/internal/... /run /sched /journal /event) $P/engine \
	$(addprefix $P/generable,/internal/... /lenient/...) $P/generable \
	$(addprefix $P/starlib/internal/,value thread table infer analysis)
GCFLAGS := $(patsubst %,-gcflags=%=-l,$(COLD)) $(patsubst %,-gcflags=%=,$(HOT))

.PHONY: all build test race check bench bench-peers reading-peers bench-flows bench-test sdks temporal temporal-server temporal-test temporal-race temporal-e2e lint vet-cross cross fuzz run e2e chaos golden notices prices docs conformance mutate clean

all: build

## build: the stripped command in bin/, with its version from git
build:
	$(GO) build $(GCFLAGS) -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/agentscript

## test: the tests of the examples, then all other tests, the long ones at a smaller size; make lint vets them
test:
	$(GO) run ./cmd/agentscript test --cover --threshold lines=100,parts=100,edges=90 examples
	$(GO) test -short -vet=off -timeout 20m $(TESTFLAGS) $(ALL)

## race: the same tests under the race detector, which needs a C compiler
#
# The packages of SEQUENTIAL start no goroutine, and those that use them concurrently are tested: the race detector finds
# nothing more in their tests. Nor does it in tests of the built command, which skip themselves.
SEQUENTIAL := internal/(arch|docs|tools/.*)|flowjson(/.*)?|generable/.*|starlib/internal/(analysis|cover|pythonisms|source|lint|doc|bounds)
race:
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test -race -short -vet=off -timeout 20m $(TESTFLAGS) \
		$$($(GO) list $(ALL) | grep -v -x -E '$P/($(SEQUENTIAL))')

## check: every test at its full size, as the product is built: without cgo and without the race detector, which allocates itself
check:
	$(GO) test -timeout 30m $(TESTFLAGS) $(ALL)

## bench: every benchmark with its allocations (set BENCH, BENCHTIME, COUNT)
bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -count $(COUNT) ./...

## bench-peers: compare the decoder with its peers, in a separate module (PEERS: -time, -only, -markdown)
bench-peers:
	cd bench && $(GO) run ./decode $(PEERS)

## reading-peers: compare how the decoder and its peers read broken JSON, and update docs/decoding.md (needs Node)
reading-peers:
	d=$$(mktemp) && $(GO) test ./generable/lenient -run '^TestDocumentsForPeers$$' -count=1 -documents "$$d" && \
	cd bench && $(GO) run ./reading -documents "$$d" -page ../docs/decoding.md && rm -f "$$d"

## bench-flows: compare the engine with its peers, in the same module (PEERS: -time, -only, -procs, -markdown)
bench-flows:
	cd bench && $(GO) run ./flows $(PEERS)

## bench-test: the tests of that module, which no other target builds
bench-test:
	cd bench && $(GO) vet ./... && $(GO) test ./...

## sdks: check requests and answers against the providers' own clients, in a separate module
sdks:
	cd bench/sdks && $(GO) vet ./... && $(GO) test -count=1 ./...

## temporal-server: a Temporal server for tests in bin/, from a separate module (5 minutes the first time)
temporal-server:
	cd temporal/devserver && $(GO) build -ldflags '-s -w' -o ../../$(SERVER) .

## temporal: the stripped command for runs on Temporal in bin/, from a separate module
temporal:
	cd temporal && $(GO) build -ldflags '$(LDFLAGS)' -o ../bin/agentscript-temporal ./cmd/agentscript-temporal

## temporal-test: the tests of that module in the test environment and the replayer, without a server
temporal-test:
	cd temporal && $(GO) vet ./... && $(NOSERVER) $(GO) test -vet=off -timeout 10m $(TESTFLAGS) ./...

## temporal-race: the same tests under the race detector
temporal-race:
	cd temporal && CGO_ENABLED=1 $(NOSERVER) $(GO) test -race -short -vet=off -timeout 10m $(TESTFLAGS) ./...

## temporal-e2e: the tests of that module on a real server, with killed workers and servers, and the tests of the server
#
# Skipped tests are printed with their reasons. The server is built if it is missing.
temporal-e2e:
	@[ -x "$(SERVER)" ] || $(MAKE) temporal-server
	@mkdir -p bin
	@code=0; export AGENTSCRIPT_TEMPORAL_SERVER="$(abspath $(SERVER))"; \
	(cd temporal && $(GO) test -v -count=1 -vet=off -timeout 12m -p 1 ./... && \
	cd devserver && $(GO) test -v -count=1 -vet=off -timeout 12m ./servertest) >bin/temporal.log 2>&1 || code=$$?; \
	awk -v promises=1 -f .ci/skips bin/temporal.log; grep -E '^(ok|FAIL|--- FAIL)\s' bin/temporal.log; \
	[ $$code = 0 ] || { awk -f .ci/failures bin/temporal.log; exit $$code; }

## lint: formatting, vet, staticcheck, and vet for every system
lint: vet-cross
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt wants to change:"; echo "$$out"; exit 1; fi
	$(GO) run $(STATICCHECK) ./...
	cd temporal && $(GO) run $(STATICCHECK) ./...

# The store's tests are vetted for this machine only. Its packages are built for each target because the command links them.
PORTABLE = $$($(GO) list ./... | grep -v /engine/store)
# A package with only tests has nothing to build.
BUILT    = $$($(GO) list -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v /engine/store)
vet-cross:
	$(GO) vet ./...
	@set -e; for t in $(VETTED); do echo "$(GO) vet for $$t"; GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) vet $(PORTABLE); done
	@set -e; cd temporal; for os in linux windows; do echo "temporal: GOOS=$$os $(GO) vet"; GOOS=$$os $(GO) vet ./...; done

## cross: build every package that the command links for every target; vet-cross checks the types of the module temporal for windows
cross:
	@set -e; for t in $(TARGETS); do \
		echo "$$t"; GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build $(BUILT); done

## fuzz: run every fuzz target in turn for FUZZTIME
fuzz:
	@GO='$(GO)' FUZZTIME='$(FUZZTIME)' bash .ci/fuzz

## run: the main example, offline, with scripted answers
run: build
	$(BIN) run $(EXAMPLE)

## e2e: the finished command, the examples, the promises, a thousand kills, scripts of 10 MB, ten thousand failing calls, and third-party servers (installed into a cache)
e2e: run
	$(GO) test -count=1 $(E2E)
	AGENTSCRIPT_KILLS=1000 $(GO) test -count=1 -v -timeout 60m -run '^TestPromise_30_(4|5|43|44|46|47|49)_' ./engine/store/sqlite ./internal/conformance >bin/kills.log || { cat bin/kills.log; exit 1; }
	@grep -E '(kill|step)s? |^(--- |ok )' bin/kills.log
	AGENTSCRIPT_BOUNDS=1 $(GO) test -count=1 -timeout 90m -run 'LinearLoading' ./internal/conformance
	AGENTSCRIPT_CHAOS=10000 $(GO) test -count=1 -run TestChaos ./engine/llm
	@GO='$(GO)' bash .ci/ollama || [ $$? = 3 ]
	@GO='$(GO)' bash .ci/e2e

## chaos: kill and stop processes of kept runs at random for KILLTIME, and print what was verified
KILLTIME ?= 2m
chaos:
	@mkdir -p bin
	AGENTSCRIPT_KILL_TIME=$(KILLTIME) $(GO) test -count=1 -v -vet=off -timeout 30m -run '^TestDurableChaos$$' ./internal/conformance >bin/chaos.log || { cat bin/chaos.log; exit 1; }
	@grep ' kills and ' bin/chaos.log

## golden: rewrite the golden files from the current output of the code; read the diff before committing
golden:
	@set -e; for d in $$(grep -rlE --include='*_test.go' 'flag\.Bool\("update"' . | xargs -n1 dirname | sort -u); do \
		echo "$(GO) test $$d -update"; $(GO) test "$$d" -update; done

## prices: update the table of prices and context windows from its npm package (PRICES: its version)
PRICES ?= 0.1.8
prices:
	d=$$(mktemp -d) && npm install --silent --no-audit --no-fund --prefix $$d @pydantic/genai-prices@$(PRICES) && \
	node internal/tools/prices/extract.mjs $$d/node_modules/@pydantic/genai-prices engine/llm/prices $$(date -u +%F); rm -rf $$d

## notices: the license texts of everything that the command links
notices:
	$(GO) test ./internal/arch -run Notices -update

## mutate: change N covered lines of PACKAGES, chosen by SEED, and print the changes that no test of TESTS notices
PACKAGES ?= ./engine/...
TESTS    ?= ./...
N        ?= 20
SEED     ?= 1
mutate:
	$(GO) run ./internal/tools/mutate -n $(N) -seed $(SEED) -tests $(TESTS) $(PACKAGES)

## conformance: run the tests of the promises and write docs/conformance.md; their output is in bin/promises.log
conformance:
	@mkdir -p bin
	-$(GO) test -v -count=1 -timeout 30m -run '^TestPromise_' ./... >bin/promises.log 2>&1
	-cd temporal && $(GO) test -v -count=1 -vet=off -timeout 12m ./... >>../bin/promises.log 2>&1
	$(GO) run ./internal/tools/conformance bin/promises.log

## docs: regenerate the generated pages under docs/
docs: conformance
	$(GO) test ./internal/docs -run PagesAreFresh -update

clean:
	rm -rf bin dist
