# Builds everything that is published, and tests it: `cargo xtask dist`, `cargo xtask test-dist`.

.DEFAULT_GOAL = dist
include Makefile
PROGRAMS = $(HASHLANE) $(if $(LIBTORRENT),$(NET))
BUILT_LIBRARIES = $(LIBRARY)/libhashlane.so $(LIBRARY)/libhashlane.a $(LIBRARY)/libmd.so.0 $(LIBRARY)/libhashlane_pkcs11.so
ARM = aarch64-unknown-linux-gnu
MAKE := $(MAKE) -f dist/rules.mk

# What is not known before the first release stands in Cargo.toml, in [workspace.metadata.release], and nowhere else.
release = $(shell sed -n '/^\[workspace.metadata.release\]/,/^\[/s/^$(1) = "\(.*\)"/\1/p' Cargo.toml)
REPOSITORY := $(call release,repository)
# The same commit gives the same bytes: times are that of the commit, and no path of the machine is in a program.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
DIST = target/packages
DIST_OUT = $(DIST)/$(VERSION)
MUSL = x86_64-unknown-linux-musl
MUSL_ARM = aarch64-unknown-linux-musl
WINDOWS = x86_64-pc-windows-gnu
MAP_PATHS = $(CURDIR)=/hashlane $(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo
C_PATHS = $(MAP_PATHS:%=-ffile-prefix-map=%)
DIST_CARGO = env -u CARGO_BUILD_TARGET RUSTFLAGS='$(MAP_PATHS:%=--remap-path-prefix=%)' \
	CFLAGS='$(C_PATHS) $(DIST_CFLAGS)' CXXFLAGS='$(C_PATHS)' $(CARGO)
# Cargo strips libraries by the profile, but not the programs whose packages have a profile of their own.
DIST_HOST = target/$(RUST_HOST)/dist
# The program in the packages.
DIST_PROGRAM = target/$(MUSL)/dist/hashlane
# The folder of libraries in each format of packages. apk has only the static program.
LIBDIR_deb = usr/lib/$(shell dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null)
LIBDIR_rpm = usr/lib64
LIBDIR_apk = usr/lib
LIBDIR_archlinux = usr/lib
FORMATS = deb rpm apk archlinux
PACKER = $(DIST)/tools/bin
# The licences of what is compiled in, and the bills of materials.
NOTICES = $(DIST)/notices
# The libtorrent that hashlane-net is linked with: `system` for that of this system, `static` for Debian's newest one.
DIST_LIBTORRENT = system
STATIC_LIBTORRENT = $(CURDIR)/target/libtorrent
LINKED_STATIC = $(filter static,$(DIST_LIBTORRENT))

.PHONY: dist-version dist dist-setup dist-container dist-recipes dist-debian-source dist-static dist-static-arm dist-windows dist-program dist-archive \
	dist-programs dist-packages dist-notices dist-libtorrent dist-debian-files $(FORMATS:%=dist-%) test-dist test-dist-bytes test-dist-quick

# What `make dist` and `make test-dist` need, besides the packages of `make setup`.
DIST_PACKAGES = musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-mingw-w64-x86-64 mingw-w64-common zip xz-utils \
	python3-venv dpkg-dev cmake ninja-build libboost-dev libssl-dev \
	debhelper lintian mmdebstrap systemd-container qemu-user-static wine wine64

dist-setup: ## Prepare Debian for `make dist` and `make test-dist`, as `make setup` does for `make install`
	@tools/setup $(MSRV) $(DIST_PACKAGES)

dist-version: ## Print the version, which releases compare with their tag
	@echo $(VERSION)

dist: dist-static dist-static-arm dist-windows dist-packages ## Build everything that is published in target/packages/VERSION: static programs and packages (docs/releasing.md)
	$(if $(LINKED_STATIC),$(MAKE) dist-archive TARGET=$(RUST_HOST))
	cd $(DIST_OUT) && sha256sum $$(ls | grep -v '^SHA256SUMS') > SHA256SUMS

dist-static: ## Build the static program without libtorrent, for x86-64 (needs musl-tools)
	@command -v musl-gcc >/dev/null || { echo 'dist-static needs a C compiler: apt-get install musl-tools' >&2; exit 1; }
	$(MAKE) dist-program TARGET=$(MUSL) DIST_CC=musl-gcc
	$(MAKE) dist-archive TARGET=$(MUSL)

# Debian has no musl-gcc for other processors: gcc reads the headers of musl, and Rust links its own musl.
dist-static-arm: MUSL_ROOT = $(CURDIR)/target/musl-arm64
dist-static-arm: ## Build the static program for 64-bit ARM (needs gcc-aarch64-linux-gnu and musl-dev)
	@command -v aarch64-linux-gnu-gcc >/dev/null || \
		{ echo 'dist-static-arm needs a compiler: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross' >&2; exit 1; }
	test -e $(MUSL_ROOT) || dist/debian unpack bookworm arm64 musl-dev $(MUSL_ROOT)
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=aarch64-linux-gnu-gcc \
		$(MAKE) dist-program TARGET=$(MUSL_ARM) DIST_CC=aarch64-linux-gnu-gcc DIST_STRIP=aarch64-linux-gnu-strip \
		DIST_CFLAGS="-nostdinc -isystem $(MUSL_ROOT)/usr/include/aarch64-linux-musl \
			-isystem $$(aarch64-linux-gnu-gcc -print-file-name=include) -mno-outline-atomics"
	$(MAKE) dist-archive TARGET=$(MUSL_ARM)

dist-windows: ## Build the program without libtorrent for Windows (needs gcc-mingw-w64-x86-64 and zip)
	@command -v x86_64-w64-mingw32-gcc >/dev/null && command -v zip >/dev/null || \
		{ echo 'dist-windows needs: apt-get install gcc-mingw-w64-x86-64 mingw-w64-common zip' >&2; exit 1; }
	$(MAKE) dist-program TARGET=$(WINDOWS) DIST_CC=x86_64-w64-mingw32-gcc DIST_STRIP=x86_64-w64-mingw32-strip
	$(MAKE) dist-archive TARGET=$(WINDOWS)

# The program without libtorrent for one target.
PROGRAM = target/$(TARGET)/dist/hashlane$(if $(filter $(WINDOWS),$(TARGET)),.exe)
DIST_STRIP = strip
dist-program:
	rustup target add $(TARGET)
	CC_$(subst -,_,$(TARGET))=$(DIST_CC) $(DIST_CARGO) rustc --locked --profile dist --target $(TARGET) --package hashlane --bin hashlane
	$(DIST_STRIP) $(PROGRAM)

# An archive of the program and its licences, the same for the same commit. The times in a zip are local times. That for the
# host has hashlane-net, too: with a static libtorrent, it needs no library that a small Debian does not have.
ARCHIVE = hashlane-$(VERSION)
WITH_NET = $(filter $(RUST_HOST),$(TARGET))
ARCHIVED = $(if $(WITH_NET),$(DIST_PROGRAM) $(DIST_HOST)/hashlane-net,$(PROGRAM))
dist-archive:
	rm -rf $(DIST)/archive && mkdir -p $(DIST)/archive/$(ARCHIVE) $(DIST_OUT)
	dist/third-party --target $(TARGET) --output $(NOTICES) $(if $(WITH_NET),--libtorrent $(STATIC_LIBTORRENT)) \
		hashlane-$(TARGET)=hashlane$(if $(WITH_NET),-net)
	install -m 755 $(ARCHIVED) $(DIST)/archive/$(ARCHIVE)
	install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE $(DIST)/archive/$(ARCHIVE)
	install -m 644 $(NOTICES)/hashlane-$(TARGET).THIRD-PARTY $(DIST)/archive/$(ARCHIVE)/THIRD-PARTY
	install -m 644 $(NOTICES)/hashlane-$(TARGET).cdx.json $(DIST_OUT)/$(ARCHIVE)-$(TARGET).cdx.json
	$(if $(filter $(WINDOWS),$(TARGET)),\
		rm -f $(DIST_OUT)/$(ARCHIVE)-$(TARGET).zip; find $(DIST)/archive -exec touch -d @$(SOURCE_DATE_EPOCH) {} + && \
		cd $(DIST)/archive && find $(ARCHIVE) | sort | TZ=UTC zip -q -X $(CURDIR)/$(DIST_OUT)/$(ARCHIVE)-$(TARGET).zip -@,\
		tar -C $(DIST)/archive --sort=name --mtime=@$(SOURCE_DATE_EPOCH) --owner=0 --group=0 --numeric-owner --mode=go-w \
		-cJf $(DIST_OUT)/$(ARCHIVE)-$(TARGET).tar.xz $(ARCHIVE))
	rm -r $(DIST)/archive

dist-libtorrent: ## Build Debian's newest libtorrent in target/libtorrent, once, for hashlane-net (takes ten minutes of a processor)
	dist/libtorrent $(STATIC_LIBTORRENT)

# libtorrent and OpenSSL become parts of hashlane-net.
STATIC_FLAGS = PKG_CONFIG_PATH=$(STATIC_LIBTORRENT)/lib/pkgconfig LIBTORRENT_RASTERBAR_STATIC=1 OPENSSL_STATIC=1 OPENSSL_NO_VENDOR=1 \
	OPENSSL_INCLUDE_DIR=/usr/include OPENSSL_LIB_DIR=$(STATIC_LIBTORRENT)/lib

# One build, so that the programs and the libraries share their dependencies. hashlane-net has GPUs, because the program
# `hashlane` is static, and cannot load their drivers. dist/third-party has the same features.
HOST_CRATES = hashlane-capi hashlane-libmd hashlane-pkcs11 hashlane-net
dist-programs: $(if $(LINKED_STATIC),dist-libtorrent)
	$(if $(LINKED_STATIC),$(STATIC_FLAGS)) $(DIST_CARGO) build --locked --profile dist --target $(RUST_HOST) \
		$(HOST_CRATES:%=--package %) --features hashlane-net/libtorrent,hashlane-net/gpu
	strip $(DIST_HOST)/hashlane-net
	crates/libmd/link $(DIST_HOST)/libhashlane_md.a $(DIST_HOST)/libmd.so.0
	strip --strip-unneeded $(DIST_HOST)/libmd.so.0
	touch -c $(addprefix $(DIST_HOST)/,libhashlane.so libhashlane.a libhashlane_pkcs11.so libmd.so.0)

# Which crate each package is built from.
dist-notices:
	dist/third-party --target $(MUSL) --output $(NOTICES) hashlane=hashlane
	dist/third-party --target $(RUST_HOST) --output $(NOTICES) $(if $(LINKED_STATIC),--libtorrent $(STATIC_LIBTORRENT)) \
		libhashlane0=hashlane-capi libhashlane-dev=hashlane-capi hashlane-libmd=hashlane-libmd hashlane-pkcs11=hashlane-pkcs11 \
		hashlane-net=hashlane-net
	dist/third-party --target $(RUST_HOST) --output $(NOTICES) --manifest kernel/Cargo.toml hashlane-dkms=hashlane-kernel
	mkdir -p $(DIST_OUT)
	for name in hashlane libhashlane0 hashlane-libmd hashlane-pkcs11 hashlane-net hashlane-dkms; do \
		install -m 644 $(NOTICES)/$$name.cdx.json $(DIST_OUT)/$$name-$(VERSION).cdx.json || exit; done

$(DIST)/tools/installed: dist/tools.txt
	python3 -m venv $(DIST)/tools
	$(PACKER)/pip install --quiet --requirement dist/tools.txt
	touch $@

dist-packages: dist-static dist-programs dist-notices $(DIST)/tools/installed ## Build the packages for Debian, Fedora, Alpine and Arch Linux
	for format in $(FORMATS); do $(MAKE) dist-$$format || exit; done

# Without Cargo: libraries that are older than their sources are an error here, and not built again with other options.
$(FORMATS:%=dist-%): dist-%:
	rm -rf $(DIST)/tree
	$(MAKE) install-files CARGO=false PREFIX=/usr DESTDIR=$(CURDIR)/$(DIST)/tree LIBDIR=/$(LIBDIR_$*) HASHLANE=$(DIST_PROGRAM) \
		NET=$(DIST_HOST)/hashlane-net LIBRARY=$(DIST_HOST)
	$(if $(filter deb,$*),,rm -rf $(DIST)/tree/usr/libexec/hashlane/hashlane-net)
	$(if $(filter deb,$*),$(MAKE) dist-debian-files)
	PATH="$(PACKER):$$PATH" dist/pack --tree $(DIST)/tree --format $* --libdir $(LIBDIR_$*) --notices $(NOTICES) --output $(DIST_OUT) \
		$(if $(DIST_VERSION),--version $(DIST_VERSION))

# What only packages of Debian have: the service, and the source of the module.
dist-debian-files: TREE = $(DIST)/tree/usr
dist-debian-files:
	install -D -m 644 dist/hashlane.sysusers $(TREE)/lib/sysusers.d/hashlane.conf
	install -D -m 644 dist/hashlane.tmpfiles $(TREE)/lib/tmpfiles.d/hashlane.conf
	mkdir -p $(TREE)/lib/systemd/system $(TREE)/src/hashlane-$(VERSION)
	install -m 644 $(wildcard dist/*.service dist/*.socket) $(TREE)/lib/systemd/system
	install -D -m 644 dist/user/hashlane.service $(TREE)/lib/systemd/user/hashlane.service
	test -e "$$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" || rustup component add rust-src
	kernel/build
	install -m 644 kernel/module/* $(TREE)/src/hashlane-$(VERSION)
	install -m 644 target/kernel/rust.o $(TREE)/src/hashlane-$(VERSION)/rust.o_shipped
	sed -e 's|@VERSION@|$(VERSION)|' dist/dkms.conf.in > $(TREE)/src/hashlane-$(VERSION)/dkms.conf

# Only these are published in other places, so the address and the version stand in them.
dist-recipes: ## Fill in the address and the version in the recipes of packaging/, in target/packages/recipes
	@test -n '$(REPOSITORY)' || { echo 'dist-recipes: Cargo.toml: repository in [workspace.metadata.release] is empty' >&2; exit 1; }
	for recipe in $$(cd packaging && find * -name '*.in' -not -path 'debian/*'); do \
		mkdir -p $(DIST)/recipes/$$(dirname $$recipe) && sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@REPOSITORY@|$(REPOSITORY)|g' \
			packaging/$$recipe > $(DIST)/recipes/$${recipe%.in} || exit; done

# The source as of the last commit, because Debian builds from what is released.
dist-debian-source: ## Build the source package for Debian in target/packages/source (packaging/debian)
	rm -rf $(DIST)/source && mkdir -p $(DIST)/source
	git archive --prefix=hashlane-$(VERSION)/ HEAD | tar -x -C $(DIST)/source
	dist/pack --format source --output $(DIST)/source/hashlane-$(VERSION)/debian
	cd $(DIST)/source && dpkg-source --build hashlane-$(VERSION)

dist-container: ## Lay out what the image is built from, in target/packages/container (packaging/container/Containerfile)
	rm -rf $(DIST)/container && mkdir -p $(DIST)/container
	install packaging/container/Containerfile packaging/container/entrypoint $(DIST)/container
	for name in hashlane hashlane-net; do \
		install -m 644 $(DIST_OUT)/$${name}_$(VERSION)_amd64.deb $(DIST)/container/$$name.deb || exit; done

# With the DIST_LIBTORRENT of `make dist`, because the tests pack again.
TESTS =
test-dist: ## Test what `make dist` has built: the static program, the packages and the units; TESTS=arm selects (as root; needs lintian, mmdebstrap)
	dist/test --output $(DIST_OUT) --version $(VERSION) $(TESTS)

test-dist-bytes: dist-static ## Compile the static program again in another folder, and compare all bytes (a part of test-dist)
	$(MAKE) test-dist TESTS=a_second_compilation

# Compiling for packages takes too long for CI, which packs the programs of `make install`.
QUICK = $(DIST)/quick
test-dist-quick: build-all $(DIST)/tools/installed ## Pack what `make install` installs for Debian, and run the tests of packages (two minutes; needs lintian)
	rm -rf $(QUICK) && mkdir -p $(QUICK)/programs
	cp -p $(PROGRAMS) $(BUILT_LIBRARIES) $(QUICK)/programs
	strip --strip-unneeded --preserve-dates $(QUICK)/programs/*
	$(MAKE) dist-notices dist-deb DIST_LIBTORRENT=system DIST_OUT=$(QUICK)/packages DIST_HOST=$(QUICK)/programs \
		DIST_PROGRAM=$(QUICK)/programs/hashlane
	dist/test --quick --output $(QUICK)/packages --version $(VERSION)
