// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * sha1-hashlane and sha256-hashlane, shash algorithms. Their state is that of the generic code, struct sha1_state and
 * struct sha256_state, so that the default export and import fit together with the generic ones, and the generic code
 * can continue any message where the FPU may not be used. The kernel's hmac template makes the HMACs.
 */
#include <asm/simd.h>
#include <crypto/internal/hash.h>
#include <crypto/internal/simd.h>
#include <crypto/sha1_base.h>
#include <crypto/sha256_base.h>
#include <linux/module.h>
#include "internal.h"

#define SHASH(sha, SHA) \
static void sha##_blocks(struct sha##_state *state, const u8 *blocks, int n_blocks) \
{ \
	hl_blocks(&hl_plan, HASHLANE_##SHA, state->state, blocks, n_blocks); \
} \
\
static int sha##_hl_update(struct shash_desc *desc, const u8 *data, unsigned int len) \
{ \
	if (!crypto_simd_usable()) \
		return crypto_##sha##_update(desc, data, len); \
	return sha##_base_do_update(desc, data, len, sha##_blocks); \
} \
\
static int sha##_hl_finup(struct shash_desc *desc, const u8 *data, unsigned int len, u8 *digest) \
{ \
	if (!crypto_simd_usable()) \
		return crypto_##sha##_finup(desc, data, len, digest); \
	if (len) \
		sha##_base_do_update(desc, data, len, sha##_blocks); \
	sha##_base_do_finalize(desc, sha##_blocks); \
	return sha##_base_finish(desc, digest); \
} \
\
static int sha##_hl_final(struct shash_desc *desc, u8 *digest) \
{ \
	return sha##_hl_finup(desc, NULL, 0, digest); \
}

#define ALGORITHM(sha, SHA) { \
	.digestsize = SHA##_DIGEST_SIZE, \
	.init = sha##_base_init, \
	.update = sha##_hl_update, \
	.final = sha##_hl_final, \
	.finup = sha##_hl_finup, \
	.descsize = sizeof(struct sha##_state), \
	.base = { \
		.cra_name = #sha, \
		.cra_driver_name = #sha "-hashlane", \
		.cra_blocksize = SHA##_BLOCK_SIZE, \
		.cra_module = THIS_MODULE, \
	}, \
}

SHASH(sha1, SHA1)
SHASH(sha256, SHA256)

static struct shash_alg algorithms[] = { ALGORITHM(sha1, SHA1), ALGORITHM(sha256, SHA256) };

int hl_register(int priority)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(algorithms); i++)
		algorithms[i].base.cra_priority = priority;
	return crypto_register_shashes(algorithms, ARRAY_SIZE(algorithms));
}

void hl_unregister(void)
{
	crypto_unregister_shashes(algorithms, ARRAY_SIZE(algorithms));
}

/* Only for requests of these names: a request of "sha256" needs no other code than that of Linux. */
MODULE_ALIAS_CRYPTO("sha1-hashlane");
MODULE_ALIAS_CRYPTO("sha256-hashlane");
