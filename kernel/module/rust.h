/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The C side of rust/src/lib.rs. Only section.c calls these functions. */
#ifndef HASHLANE_RUST_H
#define HASHLANE_RUST_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

/* The backends of x86-64, in the order of their numbers in rust/src/calls.rs. */
#define HASHLANE_BACKENDS(name) \
	name(PORTABLE, "portable") name(SSE2, "sse2") name(SSSE3, "ssse3") name(AVX, "avx") \
	name(AVX2, "avx2") name(AVX512VL, "avx512vl") name(AVX512, "avx512") name(SHA_NI, "sha-ni")

enum hashlane_backend {
#define NAME(backend, text) HASHLANE_##backend,
	HASHLANE_BACKENDS(NAME)
#undef NAME
	HASHLANE_N_BACKENDS
};

enum hashlane_algorithm { HASHLANE_SHA1, HASHLANE_SHA256 };

struct hashlane_engine {
	u8 room[192] __attribute__((aligned(16)));
};

struct hashlane_message;

struct hashlane_engine_call {
	struct hashlane_engine *engine;
	u32 allowed; /* one bit for each backend */
};

struct hashlane_kernel_call {
	const struct hashlane_engine *engine;
	enum hashlane_algorithm algorithm;
	u32 n;
	u32 lanes, backend; /* results */
};

struct hashlane_blocks_call {
	const struct hashlane_engine *engine;
	enum hashlane_algorithm algorithm;
	u32 *words;
	const u8 *blocks;
	size_t n_blocks;
};

struct hashlane_section_call {
	const struct hashlane_engine *engine;
	enum hashlane_algorithm algorithm;
	u32 n;
	const struct hashlane_message *messages;
	u32 (*states)[8];
	size_t from, len;
};

/* Preemption is off in a section, for 50 microseconds at most. A section is planned for half of this time, because the CPU
 * may be slower than when it was measured. */
#define HASHLANE_SECTION_NS 25000
/* The most bytes of each message in a section, and the bytes of a section that is measured. */
#define HASHLANE_SECTION_MAX 4096
#define HASHLANE_PROBE 512

/* Returns the bytes of each message in a section: whole blocks. `probe_ns` is the time of a section of HASHLANE_PROBE
 * bytes that ends its messages. The padding of such a section is one block for each message. */
static inline size_t hashlane_section_len(u64 probe_ns)
{
	u64 n_blocks = (u64)HASHLANE_SECTION_NS * (HASHLANE_PROBE / 64 + 1) / (probe_ns ? probe_ns : 1);

	if (n_blocks < 2)
		return 64;
	return n_blocks > HASHLANE_SECTION_MAX / 64 ? HASHLANE_SECTION_MAX : (size_t)(n_blocks - 1) * 64;
}

void hashlane_engine(const struct hashlane_engine_call *call);
void hashlane_kernel(struct hashlane_kernel_call *call);
void hashlane_blocks(const struct hashlane_blocks_call *call);
void hashlane_section(const struct hashlane_section_call *call);

#endif
