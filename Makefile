# Everything by name; `make` alone tells the names.
#
# The Swift toolchain is $SWIFT, or what Scripts/swift finds.

PREFIX ?= /usr/local
# An import without its arrow in Package.swift is an error.
SWIFT_BUILD = Scripts/swift build --explicit-target-dependency-import-check error
# What is installed runs where no Swift is.
RELEASE_FLAGS ?= --configuration release --static-swift-stdlib
SWIFT_SOURCES = Package.swift Sources Tests Workshop/Package.swift Workshop/Exercises Workshop/Solutions Workshop/Tests \
  $(wildcard Benchmarks)
# Suites with the trait CountsResources; all of RxTests have it.
COUNTED_TESTS = RxTests\.|ChatSessionTests\.|ChatClientTests\.(TalkModel|LogPaging)Tests|ChatDaemonTests\.RoomChoiceTests
# What people wait for is timed in these: they don't share the processors with all the others.
TIMED_TESTS = EndToEndTests\.
SHELL_SCRIPTS = Workshop/check .ci/run Scripts/swift Scripts/dependencies Scripts/demo Scripts/conventions Tests/lab/lab

.DEFAULT_GOAL := help
.PHONY: help fuzz build release demo simulate test coverage lint format install clean build-dependencies test-dependencies
.NOTPARALLEL:

help: ## Show these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

build: build-dependencies ## Build chatd and chat for debugging, in .build/debug
	$(SWIFT_BUILD)

release: build-dependencies ## Build chatd and chat for use, in .build/release
	$(SWIFT_BUILD) $(RELEASE_FLAGS) --product chatd
	$(SWIFT_BUILD) $(RELEASE_FLAGS) --product chat

demo: build-dependencies ## Let two chatd on this host talk: a text, an image, both transcripts
	@Scripts/demo

SEEDS ?= 10000
simulate: build-dependencies ## Let rooms go through SEEDS schedules of faults (10,000), or through SEED alone
	$(SWIFT_BUILD) --configuration release --product simulate
	.build/release/simulate $(if $(SEED),--seed $(SEED),--seeds $(SEEDS)) $(SIMULATE_FLAGS)

test: test-dependencies lint ## Run all tests; those with avahi-daemons in a lab need root
	$(SWIFT_BUILD) --build-tests
	Workshop/check
	RX_COUNT_RESOURCES=1 Scripts/swift test --skip-build --disable-xctest --no-parallel --filter '$(COUNTED_TESTS)'
	Scripts/swift test --skip-build --disable-xctest --skip '$(TIMED_TESTS)'
	Scripts/swift test --skip-build --disable-xctest --filter '$(TIMED_TESTS)'

coverage: test-dependencies ## Count the lines of the pure modules that their tests run through
	@Scripts/coverage

fuzz: build-dependencies ## Feed made-up bytes to each parser, FUZZ_SECONDS each, or FUZZ_RUNS inputs
	Scripts/fuzz

lint: ## Check how the sources are written
	Scripts/swift format lint --strict --parallel --recursive $(SWIFT_SOURCES)
	Scripts/conventions
	@if command -v shellcheck >/dev/null; then echo shellcheck $(SHELL_SCRIPTS); shellcheck $(SHELL_SCRIPTS); fi

format: ## Write the sources as lint wants them, as far as a program can
	Scripts/swift format --in-place --parallel --recursive $(SWIFT_SOURCES)

install: .build/release/chatd .build/release/chat ## Install chatd and chat into $(DESTDIR)$(PREFIX)/bin
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install -m 755 .build/release/chatd .build/release/chat '$(DESTDIR)$(PREFIX)/bin'

# Only when missing: `make release && sudo make install` shall not build as root.
.build/release/chatd .build/release/chat:
	$(MAKE) release

clean: ## Remove what was built
	rm -rf .build

build-dependencies:
	@Scripts/swift --check
	@Scripts/dependencies build

test-dependencies:
	@Scripts/swift --check
	@Scripts/dependencies test
