/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The interfaces between the C files of the module. */
#ifndef HASHLANE_INTERNAL_H
#define HASHLANE_INTERNAL_H

#include "hashlane.h"
#include "rust.h"

/* An engine, and the bytes of each message in a section: for each algorithm and number of messages, whole blocks. */
struct hl_plan {
	struct hashlane_engine engine;
	u16 sections[2][HASHLANE_MAX_MESSAGES + 1];
};

/* backends.c */
const char *hl_backend_name(u32 backend);
int hl_allowed_backends(u32 *allowed);

/* section.c: Rust on the scratch stack of the CPU. The caller has checked crypto_simd_usable(). main.c fills the plan. */
extern struct hl_plan hl_plan;
int hl_scratch_alloc(void);
void hl_scratch_free(void);
void hl_make_engine(struct hashlane_engine *engine, u32 allowed);
void hl_measure_sections(struct hl_plan *plan);
void hl_kernel(struct hashlane_kernel_call *call);
void hl_blocks(const struct hl_plan *plan, enum hashlane_algorithm algorithm, u32 *words, const u8 *blocks,
	       size_t n_blocks);
void hl_states(const struct hl_plan *plan, enum hashlane_algorithm algorithm, const struct hashlane_message *messages,
	       unsigned int n, u32 (*states)[8]);

/* many.c: the kernel's library, one message at a time. */
size_t hl_digest_len(enum hashlane_algorithm algorithm);
void hl_library_digest(enum hashlane_algorithm algorithm, const u8 *start, u32 len, u8 *digest);
void hl_write_digest(enum hashlane_algorithm algorithm, const u32 *state, u8 *digest);

/* shash.c */
int hl_register(int priority);
void hl_unregister(void);

/* selftest.c */
int hl_selftest(u32 allowed);

#endif
