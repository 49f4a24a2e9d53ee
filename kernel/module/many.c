// SPDX-License-Identifier: MIT OR GPL-2.0
/* Many messages at once, for other modules, and the kernel's library for one message. */
#include <asm/simd.h>
#include <crypto/internal/simd.h>
#include <crypto/sha1.h>
#include <crypto/sha2.h>
#include <linux/export.h>
#include <linux/string.h>
#include "internal.h"

size_t hl_digest_len(enum hashlane_algorithm algorithm)
{
	return algorithm == HASHLANE_SHA1 ? SHA1_DIGEST_SIZE : SHA256_DIGEST_SIZE;
}

void hl_write_digest(enum hashlane_algorithm algorithm, const u32 *state, u8 *digest)
{
	unsigned int i;

	for (i = 0; i < hl_digest_len(algorithm) / 4; i++) {
		__be32 word = cpu_to_be32(state[i]);

		memcpy(digest + 4 * i, &word, sizeof(word));
	}
}

/* The library has the compression function of SHA-1 alone. */
static noinline_for_stack void library_sha1(const u8 *start, u32 len, u8 *digest)
{
	u32 state[5], w[SHA1_WORKSPACE_WORDS];
	u8 end[2 * SHA1_BLOCK_SIZE] = { };
	__be64 len_bits = cpu_to_be64((u64)len * 8);
	u32 rest = len % SHA1_BLOCK_SIZE, end_len = rest < 56 ? 64 : 128, done;

	sha1_init(state);
	for (done = 0; done < len - rest; done += SHA1_BLOCK_SIZE)
		sha1_transform(state, start + done, w);
	memcpy(end, start + done, rest);
	end[rest] = 0x80;
	memcpy(end + end_len - 8, &len_bits, sizeof(len_bits));
	for (done = 0; done < end_len; done += SHA1_BLOCK_SIZE)
		sha1_transform(state, end + done, w);
	hl_write_digest(HASHLANE_SHA1, state, digest);
}

void hl_library_digest(enum hashlane_algorithm algorithm, const u8 *start, u32 len, u8 *digest)
{
	if (algorithm == HASHLANE_SHA1)
		library_sha1(start, len, digest);
	else
		sha256(start, len, digest);
}

static int many(enum hashlane_algorithm algorithm, const struct hashlane_message *messages, unsigned int n,
		u8 *digests)
{
	size_t digest_len = hl_digest_len(algorithm);
	u32 states[HASHLANE_MAX_MESSAGES][8];
	unsigned int i;

	if (n > HASHLANE_MAX_MESSAGES)
		return -EINVAL;
	if (!crypto_simd_usable()) {
		for (i = 0; i < n; i++)
			hl_library_digest(algorithm, messages[i].start, messages[i].len, digests + i * digest_len);
		return 0;
	}
	hl_states(&hl_plan, algorithm, messages, n, states);
	for (i = 0; i < n; i++)
		hl_write_digest(algorithm, states[i], digests + i * digest_len);
	return 0;
}

int hashlane_sha1_many(const struct hashlane_message *messages, unsigned int n, u8 (*digests)[20])
{
	return many(HASHLANE_SHA1, messages, n, *digests);
}
EXPORT_SYMBOL_GPL(hashlane_sha1_many);

int hashlane_sha256_many(const struct hashlane_message *messages, unsigned int n, u8 (*digests)[32])
{
	return many(HASHLANE_SHA256, messages, n, *digests);
}
EXPORT_SYMBOL_GPL(hashlane_sha256_many);
