// SPDX-License-Identifier: MIT OR GPL-2.0
/* A module that uses hashlane as other modules would, with the FPU and without. Loading fails if a result is wrong. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/fpu/api.h>
#include <asm/simd.h>
#include <crypto/hash.h>
#include <crypto/internal/simd.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "hashlane.h"

#define MESSAGE_ROOM 20000

static u8 data[HASHLANE_MAX_MESSAGES][MESSAGE_ROOM];
static u8 sha1_digests[HASHLANE_MAX_MESSAGES][20], sha256_digests[HASHLANE_MAX_MESSAGES][32];

static int __init generic(const char *name, const u8 *start, u32 len, u8 *digest)
{
	struct crypto_shash *tfm = crypto_alloc_shash(name, 0, 0);
	int err;

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = crypto_shash_tfm_digest(tfm, start, len, digest);
	crypto_free_shash(tfm);
	return err;
}

static int __init test_many(unsigned int n, bool with_fpu)
{
	struct hashlane_message messages[HASHLANE_MAX_MESSAGES];
	u8 expected[32];
	unsigned int i;
	int err;

	for (i = 0; i < n; i++)
		messages[i] = (struct hashlane_message){ data[i] + i, get_random_u32() % (MESSAGE_ROOM - i) };
	memset(sha1_digests, 0, sizeof(sha1_digests));
	memset(sha256_digests, 0, sizeof(sha256_digests));
	if (!with_fpu)
		kernel_fpu_begin();
	err = crypto_simd_usable() == with_fpu ? 0 : -EBUSY;
	err = err ?: hashlane_sha1_many(messages, n, sha1_digests);
	err = err ?: hashlane_sha256_many(messages, n, sha256_digests);
	if (!with_fpu)
		kernel_fpu_end();
	for (i = 0; i < n && !err; i++) {
		err = generic("sha1-generic", messages[i].start, messages[i].len, expected);
		if (!err && memcmp(expected, sha1_digests[i], 20))
			err = -EINVAL;
		err = err ?: generic("sha256-generic", messages[i].start, messages[i].len, expected);
		if (!err && memcmp(expected, sha256_digests[i], 32))
			err = -EINVAL;
	}
	return err;
}

static int __init init_desc(struct shash_desc **desc, const char *name)
{
	struct crypto_shash *tfm = crypto_alloc_shash(name, 0, 0);

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	*desc = kzalloc(sizeof(**desc) + crypto_shash_descsize(tfm), GFP_KERNEL);
	if (!*desc) {
		crypto_free_shash(tfm);
		return -ENOMEM;
	}
	(*desc)->tfm = tfm;
	return crypto_shash_init(*desc);
}

static void __init free_desc(struct shash_desc *desc)
{
	if (desc)
		crypto_free_shash(desc->tfm);
	kfree(desc);
}

/* The first part of a message with one algorithm, the second with another, without the FPU if so wanted. */
static int __init test_parts(const char *first, const char *second, const char *reference, u32 split, u32 len,
			     bool with_fpu)
{
	struct shash_desc *a = NULL, *b = NULL;
	u8 state[256], digest[32], expected[32];
	int err = init_desc(&a, first);

	err = err ?: init_desc(&b, second);
	if (!err && crypto_shash_statesize(a->tfm) != crypto_shash_statesize(b->tfm))
		err = -EINVAL;
	err = err ?: crypto_shash_update(a, data[0], split);
	err = err ?: crypto_shash_export(a, state);
	err = err ?: crypto_shash_import(b, state);
	if (!with_fpu)
		kernel_fpu_begin();
	err = err ?: crypto_shash_update(b, data[0] + split, (len - split) / 2);
	err = err ?: crypto_shash_finup(b, data[0] + split + (len - split) / 2, len - split - (len - split) / 2, digest);
	if (!with_fpu)
		kernel_fpu_end();
	err = err ?: generic(reference, data[0], len, expected);
	if (!err && memcmp(digest, expected, crypto_shash_digestsize(b->tfm)))
		err = -EINVAL;
	free_desc(a);
	free_desc(b);
	return err;
}

static int __init report(const char *test, int err)
{
	pr_info("%s: %s\n", test, err ? "FAILED" : "passed");
	return err;
}

static int __init test_all_parts(const char *ours, const char *theirs)
{
	u32 split;
	int err = 0;

	for (split = 0; split < 300 && !err; split += 7) {
		err = test_parts(theirs, ours, theirs, split, 3 * split + 11, true);
		err = err ?: test_parts(ours, theirs, theirs, split, 3 * split + 11, true);
		err = err ?: test_parts(ours, ours, theirs, split, 3 * split + 11, false);
	}
	return report(ours, err);
}

static int __init hashlane_test_init(void)
{
	unsigned int n;
	int err = 0;

	get_random_bytes(data, sizeof(data));
	for (n = 0; n <= HASHLANE_MAX_MESSAGES && !err; n++)
		err = test_many(n, true);
	err = report("many messages", err);
	for (n = 0; n <= HASHLANE_MAX_MESSAGES && !err; n++)
		err = test_many(n, false);
	err = err ?: report("many messages without the FPU", err);
	if (!err)
		err = hashlane_sha256_many(NULL, HASHLANE_MAX_MESSAGES + 1, sha256_digests) == -EINVAL ? 0 : -EINVAL;
	err = err ?: report("too many messages", err);
	err = err ?: test_all_parts("sha1-hashlane", "sha1-generic");
	err = err ?: test_all_parts("sha256-hashlane", "sha256-generic");
	return err;
}

static void __exit hashlane_test_exit(void)
{
}

module_init(hashlane_test_init);
module_exit(hashlane_test_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Test of hashlane");
