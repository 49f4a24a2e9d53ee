// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The only calls of Rust. Each runs between kernel_fpu_begin and kernel_fpu_end, on a stack of its own for each CPU.
 *
 * - The kernels need up to 13 KiB of stack, of the 16 KiB that a task has. Callers below a file system have no such room.
 *   With call_on_stack, by which the kernel itself enters its interrupt stacks, the task's stack only keeps the frames
 *   of this file. The call also aligns the stack to 16 bytes, as Rust expects; the kernel aligns its stacks to 8.
 * - Nothing else uses the stack of a CPU meanwhile. Preemption is off in a section, and an interrupt that comes into
 *   it finds no usable FPU, so that it takes the generic code.
 * - An interrupt keeps its registers on the scratch stack and then moves to the interrupt stack of the CPU.
 *   kernel/check proves that 4 KiB are free for that.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/fpu/api.h>
#include <asm/irq_stack.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "internal.h"

#define SCRATCH_SIZE 20480
#define FILLER 0x5a
#define PROBE_RUNS 5

struct hl_plan hl_plan __ro_after_init;

static DEFINE_PER_CPU(u8 *, scratch);

#define ON_SCRATCH(function, call) \
	do { \
		u8 *bottom; \
		kernel_fpu_begin(); \
		bottom = this_cpu_read(scratch); \
		call_on_stack(bottom + SCRATCH_SIZE - 16, function, ASM_CALL_ARG1, , [arg1] "r"(call)); \
		kernel_fpu_end(); \
	} while (0)

/* Returns how many bytes of a scratch stack have been used since it was filled. */
static size_t used_bytes(const u8 *bottom)
{
	size_t i = 0;

	while (i < SCRATCH_SIZE && bottom[i] == FILLER)
		i++;
	return SCRATCH_SIZE - i;
}

int hl_scratch_alloc(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		/* Like a task's stack: the page below is not mapped. */
		u8 *bottom = vmalloc_node(SCRATCH_SIZE, cpu_to_node(cpu));

		if (!bottom) {
			hl_scratch_free();
			return -ENOMEM;
		}
		memset(bottom, FILLER, SCRATCH_SIZE);
		per_cpu(scratch, cpu) = bottom;
	}
	return 0;
}

void hl_scratch_free(void)
{
	size_t most = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		u8 *bottom = per_cpu(scratch, cpu);

		if (bottom)
			most = max(most, used_bytes(bottom));
		vfree(bottom);
		per_cpu(scratch, cpu) = NULL;
	}
	pr_info("used at most %zu of %u bytes of a scratch stack\n", most, SCRATCH_SIZE);
}

void hl_make_engine(struct hashlane_engine *engine, u32 allowed)
{
	const struct hashlane_engine_call call = { engine, allowed };

	ON_SCRATCH(hashlane_engine, &call);
}

/* Returns the time of a section that ends n messages: the best of some runs, because interrupts disturb the others. */
static u64 __init probe_ns(const struct hashlane_engine *engine, enum hashlane_algorithm algorithm, unsigned int n)
{
	static const u8 bytes[HASHLANE_PROBE];
	struct hashlane_message messages[HASHLANE_MAX_MESSAGES];
	u32 states[HASHLANE_MAX_MESSAGES][8];
	struct hashlane_section_call call = { engine, algorithm, n, messages, states, 0, HASHLANE_PROBE };
	u64 best = U64_MAX;
	unsigned int i;

	for (i = 0; i < n; i++)
		messages[i] = (struct hashlane_message){ bytes, HASHLANE_PROBE };
	for (i = 0; i < PROBE_RUNS; i++) {
		u64 start = ktime_get_ns();

		ON_SCRATCH(hashlane_section, &call);
		best = min(best, ktime_get_ns() - start);
	}
	return best;
}

void __init hl_measure_sections(struct hl_plan *plan)
{
	unsigned int algorithm, n;

	for (algorithm = HASHLANE_SHA1; algorithm <= HASHLANE_SHA256; algorithm++) {
		for (n = 1; n <= HASHLANE_MAX_MESSAGES; n++)
			plan->sections[algorithm][n] = hashlane_section_len(probe_ns(&plan->engine, algorithm, n));
		pr_info("sections of %s: %u bytes of one message, %u bytes each of %u messages\n",
			algorithm == HASHLANE_SHA1 ? "sha1" : "sha256", plan->sections[algorithm][1],
			plan->sections[algorithm][HASHLANE_MAX_MESSAGES], HASHLANE_MAX_MESSAGES);
	}
}

void hl_kernel(struct hashlane_kernel_call *call)
{
	ON_SCRATCH(hashlane_kernel, call);
}

void hl_blocks(const struct hl_plan *plan, enum hashlane_algorithm algorithm, u32 *words, const u8 *blocks,
	       size_t n_blocks)
{
	struct hashlane_blocks_call call = { &plan->engine, algorithm, words, blocks };

	while (n_blocks) {
		call.n_blocks = min_t(size_t, n_blocks, plan->sections[algorithm][1] / 64);
		ON_SCRATCH(hashlane_blocks, &call);
		call.blocks += call.n_blocks * 64;
		n_blocks -= call.n_blocks;
	}
}

void hl_states(const struct hl_plan *plan, enum hashlane_algorithm algorithm, const struct hashlane_message *messages,
	       unsigned int n, u32 (*states)[8])
{
	size_t len = plan->sections[algorithm][n];
	struct hashlane_section_call call = { &plan->engine, algorithm, n, messages, states, 0, len };
	size_t longest = n ? 1 : 0; /* An empty message has one section. */
	unsigned int i;

	for (i = 0; i < n; i++)
		longest = max_t(size_t, longest, messages[i].len);
	for (; call.from < longest; call.from += len)
		ON_SCRATCH(hashlane_section, &call);
}
