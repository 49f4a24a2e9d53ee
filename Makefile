# What users and packagers type. Everything else is `cargo xtask JOB`.

CARGO ?= cargo
XTASK = $(CARGO) xtask
HASHLANE = target/release/hashlane
NET = $(HASHLANE)-net
# The oldest compiler that the crates support.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
# Builds include the program for `get`, `seed` and `daemon` if libtorrent is installed.
LIBTORRENT := $(shell pkg-config --atleast-version=2.0.8 libtorrent-rasterbar 2>/dev/null && echo --features hashlane-net/libtorrent)
# A program without shared libraries starts in two thirds of the time. It needs libc.a, which Debian's libc6-dev has. Only the
# program that does not use the network is linked so, because glibc resolves host names by shared libraries. The flag is
# passed for that program alone, so that both programs share the libraries that they are built from.
RUST_HOST := $(shell rustc --version --verbose | sed -n 's/^host: //p')
STATIC := $(if $(filter %-linux-gnu,$(RUST_HOST)),$(shell \
	echo 'int main(void) { return 0; }' | $(CC) -static-pie -x c - -o /dev/null 2>/dev/null && echo yes))
# GPU=1 builds `recover` for GPUs. Their drivers are shared libraries, which a static program cannot load.
PROGRAM_FLAGS = $(if $(GPU),--features gpu,$(if $(STATIC),-- -Ctarget-feature=+crt-static))

# The folder that `make install` installs to, below DESTDIR.
PREFIX = /usr/local
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
LIBEXEC = $(DESTDIR)$(PREFIX)/libexec/hashlane
SHARE = $(DESTDIR)$(PREFIX)/share
# The folder of the built libraries. Their names differ on macOS, where only the program is installed.
LIBRARY = target/release
LIBRARIES = $(if $(filter Darwin,$(shell uname -s)),,capi libmd pkcs11)
# The number in the soname of libhashlane, which crates/capi/build.rs sets.
SOVERSION = 0
FILL_IN = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	-e 's|@VERSION@|$(VERSION)|' -e 's|@SOVERSION@|$(SOVERSION)|'
# Names of the drop-in programs. Their folder is not in PATH unless the user adds it.
LINKS = md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum b3sum digest mac par2 par2create par2verify par2repair
DEMO = demo/union-addresses.torrent

.PHONY: help build build-lib libmd pkcs11 build-all setup install install-files install-lib install-capi install-libmd install-pkcs11 \
	demo run-demo test check docs clean

help: ## Show this list
	@awk -F ': .*## ' '/^[a-z0-9-]+: .*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo; echo '  cargo xtask          checks, benchmarks and packages: a list'

# With the profile of the tests, which then need not build the same again. The code that hashes is optimised there, too.
demo: ## Build the program, and verify a torrent with complete content, then with a damaged file
	$(CARGO) build --locked --bin hashlane
	@$(MAKE) --no-print-directory run-demo HASHLANE=target/debug/hashlane

run-demo:
	@echo; echo '$$ hashlane verify $(DEMO) -d demo/good'
	@$(HASHLANE) verify $(DEMO) -d demo/good
	@echo; echo '$$ hashlane verify $(DEMO) -d demo/damaged'
	@$(HASHLANE) verify $(DEMO) -d demo/damaged; status=$$?; \
		test $$status -eq 1 && echo && echo 'Exit status 1, as expected: the content is damaged.'

test: ## Run all tests, in parallel if cargo-nextest is installed, and list what could not run
	@$(XTASK) test

check: ## Check what to check before each commit, in less than two minutes
	@$(XTASK) check

docs: ## Build the documentation: the book in target/book (needs mdbook), and that of the crates
	@$(XTASK) docs

setup: ## Prepare Debian for `make install`: as root, install packages; otherwise, print what is missing, Rust included
	@tools/setup $(MSRV) make gcc libc6-dev ca-certificates curl libtorrent-rasterbar-dev pkg-config g++

clean: ## Remove all build output
	$(CARGO) clean

# The program has a command of its own for the sake of its flag.
build: ## Build the optimised programs in target/release; hashlane-net needs libtorrent; GPU=1 for recover on GPUs
	$(CARGO) rustc --locked --release --package hashlane --bin hashlane $(PROGRAM_FLAGS)
	$(if $(LIBTORRENT),$(CARGO) build --locked --release --package hashlane-net $(LIBTORRENT))
	@touch -c $(HASHLANE) $(NET)

build-lib: ## Build the C library, target/release/libhashlane.so and libhashlane.a
	$(CARGO) build --locked --release --package hashlane-capi

libmd: ## Build the replacement of libmd, target/release/libmd.so.0 (docs/reference/libmd.md)
	$(CARGO) build --locked --release --package hashlane-libmd
	crates/libmd/link target/release/libhashlane_md.a target/release/libmd.so.0

pkcs11: ## Build the PKCS#11 module, target/release/libhashlane_pkcs11.so (docs/reference/pkcs11.md)
	$(CARGO) build --locked --release --package hashlane-pkcs11

build-all: build ## Build everything that `make install` installs, which then runs no Cargo as root
	$(if $(LIBRARIES),$(CARGO) build --locked --release $(LIBRARIES:%=--package hashlane-%))
	$(if $(LIBRARIES),crates/libmd/link target/release/libhashlane_md.a target/release/libmd.so.0)
	@touch $(ALL_BUILT)

# The time of the last build-all, so that `make build-all && sudo make install` compiles nothing as root. libtorrent, which may be
# installed later, adds a program.
ALL_BUILT = target/release/.all$(if $(LIBTORRENT),-net)
$(ALL_BUILT): Cargo.lock $(shell find crates/*/src crates/*/cpp -type f)
	$(MAKE) build-all

install: $(ALL_BUILT) ## Install programs, links, man pages, completions and C libraries; PREFIX=/usr/local DESTDIR=
	$(MAKE) install-files
	@echo 'included: hashlane$(if $(LIBRARIES), libhashlane libmd.so.0 PKCS#11-module)$(if $(LIBTORRENT), hashlane-net. Left out: nothing,. \
		Left out: hashlane-net (get seed daemon), because libtorrent-rasterbar 2.0.8 or later is not installed: make setup)'

# Libraries that were built before are installed as they are.
$(LIBRARY)/libhashlane.so:
	$(MAKE) build-lib
$(LIBRARY)/libmd.so.0:
	$(MAKE) libmd
$(LIBRARY)/libhashlane_pkcs11.so:
	$(MAKE) pkcs11

install-files: $(LIBRARIES:%=install-%)
	mkdir -p $(DESTDIR)$(PREFIX)/bin $(LIBEXEC) $(SHARE)/man/man1 $(SHARE)/bash-completion/completions \
		$(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 755 $(HASHLANE) $(DESTDIR)$(PREFIX)/bin/hashlane
	$(if $(LIBTORRENT),install -m 755 $(NET) $(LIBEXEC)/hashlane-net)
	for link in $(LINKS); do ln -sf ../../bin/hashlane $(LIBEXEC)/$$link || exit; done
	$(HASHLANE) man --force --output $(SHARE)/man/man1
	$(HASHLANE) completions bash > $(SHARE)/bash-completion/completions/hashlane
	$(HASHLANE) completions zsh > $(SHARE)/zsh/site-functions/_hashlane
	$(HASHLANE) completions fish > $(SHARE)/fish/vendor_completions.d/hashlane.fish

install-capi: install-lib

install-lib: $(LIBRARY)/libhashlane.so ## Install the C library, its header, hashlane.pc and a CMake package; LIBDIR= INCLUDEDIR=
	mkdir -p $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/hashlane $(DESTDIR)$(INCLUDEDIR)
	install -m 755 $(LIBRARY)/libhashlane.so $(DESTDIR)$(LIBDIR)/libhashlane.so.$(VERSION)
	ln -sf libhashlane.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libhashlane.so.$(SOVERSION)
	ln -sf libhashlane.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libhashlane.so
	install -m 644 $(LIBRARY)/libhashlane.a $(DESTDIR)$(LIBDIR)/libhashlane.a
	install -m 644 crates/capi/include/hashlane.h $(DESTDIR)$(INCLUDEDIR)/hashlane.h
	$(FILL_IN) crates/capi/packaging/hashlane.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/hashlane.pc
	for file in hashlaneConfig hashlaneConfigVersion; do \
		$(FILL_IN) crates/capi/packaging/$$file.cmake.in > $(DESTDIR)$(LIBDIR)/cmake/hashlane/$$file.cmake || exit; \
	done

# A separate folder, so that libmd.so.0 replaces the system's only where a user asks for it.
install-libmd: $(LIBRARY)/libmd.so.0 ## Install libmd.so.0 in a separate folder, LIBDIR/hashlane
	mkdir -p $(DESTDIR)$(LIBDIR)/hashlane
	install -m 644 $(LIBRARY)/libmd.so.0 $(DESTDIR)$(LIBDIR)/hashlane/libmd.so.0

install-pkcs11: $(LIBRARY)/libhashlane_pkcs11.so ## Install the PKCS#11 module in LIBDIR/pkcs11
	mkdir -p $(DESTDIR)$(LIBDIR)/pkcs11
	install -m 755 $(LIBRARY)/libhashlane_pkcs11.so $(DESTDIR)$(LIBDIR)/pkcs11/libhashlane_pkcs11.so
