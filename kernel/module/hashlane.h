/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The interface for other kernel modules: digests of up to 16 messages at once. */
#ifndef HASHLANE_H
#define HASHLANE_H

#include <linux/types.h>

#define HASHLANE_MAX_MESSAGES 16

struct hashlane_message {
	const u8 *start;
	u32 len;
};

/*
 * Each writes the digests of n messages, in the order of the messages. They may be called wherever shash algorithms may be
 * called: if the
 * FPU may not be used, the kernel's generic code hashes the messages one by one. They never sleep or allocate.
 * Preemption is off for at most 50 microseconds while up to 4 KiB of each message are hashed, and allowed between these
 * sections.
 *
 * Return 0, or -EINVAL if n is larger than HASHLANE_MAX_MESSAGES.
 */
int hashlane_sha1_many(const struct hashlane_message *messages, unsigned int n, u8 (*digests)[20]);
int hashlane_sha256_many(const struct hashlane_message *messages, unsigned int n, u8 (*digests)[32]);

#endif
