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
	u8 room[64] __attribute__((aligned(16)));
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

void hashlane_engine(const struct hashlane_engine_call *call);
void hashlane_kernel(struct hashlane_kernel_call *call);
void hashlane_blocks(const struct hashlane_blocks_call *call);
void hashlane_section(const struct hashlane_section_call *call);

#endif
