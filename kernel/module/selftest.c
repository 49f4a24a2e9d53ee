// SPDX-License-Identifier: MIT OR GPL-2.0
/* Before anything is registered: each backend alone, then all together, against the kernel's library. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <crypto/sha1.h>
#include <crypto/sha2.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "internal.h"

/* Around the ends of blocks, of the padding's room, and of FPU sections. */
static const u16 lengths[] __initconst = { 0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 300, 1000, 4095, 4096, 4097, 8192,
					   8200, 9000 };
#define MESSAGE_ROOM 9216
/* Up to the end of the longest section, and beyond it. */
static const u8 block_counts[] __initconst = { 1, 3, 4, 7, 63, 64, 65, 130 };
/* Every check runs with short and with the longest sections. */
static const u16 sections[] __initconst = { 192, HASHLANE_SECTION_MAX };

static const char *const algorithm_names[] = { "sha1", "sha256" };

struct room {
	u8 data[HASHLANE_MAX_MESSAGES][MESSAGE_ROOM];
	struct hashlane_message messages[HASHLANE_MAX_MESSAGES];
	u32 states[HASHLANE_MAX_MESSAGES][8];
	u32 w[SHA1_WORKSPACE_WORDS];
	struct sha256_state sha256;
	struct hl_plan plan;
	unsigned int n_messages, n_blocks; /* results */
};

/* n messages of unequal lengths, unaligned. */
static int __init check_messages(struct room *room, enum hashlane_algorithm algorithm, unsigned int n)
{
	u8 expected[SHA256_DIGEST_SIZE], digest[SHA256_DIGEST_SIZE];
	unsigned int i;

	for (i = 0; i < n; i++) {
		room->messages[i].start = room->data[i] + i;
		room->messages[i].len = lengths[(5 * i + n) % ARRAY_SIZE(lengths)];
	}
	hl_states(&room->plan, algorithm, room->messages, n, room->states);
	for (i = 0; i < n; i++) {
		const struct hashlane_message *message = &room->messages[i];

		hl_library_digest(algorithm, message->start, message->len, expected);
		hl_write_digest(algorithm, room->states[i], digest);
		if (memcmp(expected, digest, hl_digest_len(algorithm))) {
			pr_err("%s of message %u of %u, %u bytes: wrong digest\n", algorithm_names[algorithm], i + 1, n,
			       message->len);
			return -EINVAL;
		}
		room->n_messages++;
	}
	return 0;
}

/* The state after blocks of one message, as the shash algorithms use it. */
static int __init check_blocks(struct room *room, enum hashlane_algorithm algorithm, unsigned int n_blocks)
{
	const u8 *data = room->data[0] + 1;
	u32 expected[8], state[8];
	size_t len = algorithm == HASHLANE_SHA1 ? 20 : 32;
	unsigned int i;

	if (algorithm == HASHLANE_SHA1) {
		sha1_init(expected);
		memcpy(state, expected, len);
		for (i = 0; i < n_blocks; i++)
			sha1_transform(expected, data + 64 * i, room->w);
	} else {
		sha256_init(&room->sha256);
		memcpy(state, room->sha256.state, len);
		sha256_update(&room->sha256, data, 64 * n_blocks);
		memcpy(expected, room->sha256.state, len);
	}
	hl_blocks(&room->plan, algorithm, state, data, n_blocks);
	if (memcmp(expected, state, len)) {
		pr_err("%s of %u blocks: wrong state\n", algorithm_names[algorithm], n_blocks);
		return -EINVAL;
	}
	/* Blocks of one section could be right although the next section starts at a wrong place. */
	room->n_blocks += 64 * n_blocks > room->plan.sections[algorithm][1];
	return 0;
}

static int __init check_algorithm(struct room *room, enum hashlane_algorithm algorithm, unsigned int section)
{
	unsigned int i, n;
	int err = 0;

	for (n = 1; n <= HASHLANE_MAX_MESSAGES; n++)
		room->plan.sections[algorithm][n] = section;
	for (n = 1; n <= HASHLANE_MAX_MESSAGES && !err; n++)
		err = check_messages(room, algorithm, n);
	for (i = 0; i < ARRAY_SIZE(block_counts) && !err; i++)
		err = check_blocks(room, algorithm, block_counts[i]);
	return err;
}

static int __init check_engine(struct room *room, const char *name, u32 allowed)
{
	struct hashlane_kernel_call kernels[2];
	unsigned int algorithm, i;
	int err = 0;

	room->n_messages = room->n_blocks = 0;
	hl_make_engine(&room->plan.engine, allowed);
	for (algorithm = HASHLANE_SHA1; algorithm <= HASHLANE_SHA256; algorithm++) {
		kernels[algorithm] = (struct hashlane_kernel_call){ &room->plan.engine, algorithm, HASHLANE_MAX_MESSAGES };
		hl_kernel(&kernels[algorithm]);
		for (i = 0; i < ARRAY_SIZE(sections) && !err; i++)
			err = check_algorithm(room, algorithm, sections[i]);
	}
	if (err)
		pr_err("self-test of %s: failed\n", name);
	else
		pr_info("self-test of %s: passed, %u messages, %u runs of blocks across sections; sha1 x%u %s, sha256 x%u %s\n",
			name, room->n_messages, room->n_blocks, kernels[0].lanes, hl_backend_name(kernels[0].backend), kernels[1].lanes,
			hl_backend_name(kernels[1].backend));
	return err;
}

int __init hl_selftest(u32 allowed)
{
	struct room *room = kvmalloc(sizeof(*room), GFP_KERNEL);
	unsigned int backend;
	int err = 0;

	if (!room)
		return -ENOMEM;
	get_random_bytes(room->data, sizeof(room->data));
	for (backend = 0; backend < HASHLANE_N_BACKENDS && !err; backend++)
		if (allowed & BIT(backend))
			err = check_engine(room, hl_backend_name(backend), BIT(backend));
	if (!err)
		err = check_engine(room, "all", allowed);
	kvfree(room);
	return err;
}
