/* The engine's object in user space: native SECONDS [sections]. Compares the results of each backend of this CPU with those
 * of `portable`, and prints the kernel and its GB/s, for 16 messages of 16 KiB and for one. With `sections`, prints the
 * bytes of a section of each kernel as the module chooses them, and the time of such a section in microseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../module/rust.h"

#define N 16
#define LEN 16384
#define SECTION 4096

struct hashlane_message {
	const u8 *start;
	u32 len;
};

static const char *const algorithms[] = { "sha1", "sha256" };
static const char *const backends[] = {
#define NAME(backend, text) text,
	HASHLANE_BACKENDS(NAME)
#undef NAME
};
static u8 data[N][LEN];

/* The kernel's thunk, as it is on CPUs that need no mitigation. */
__asm__(".globl __x86_return_thunk\n.type __x86_return_thunk, @function\n__x86_return_thunk: ret\nint3\n");

/* The engine's code comes after this one, at a place that PLACE moves. */
#define TEXT_OF(n) #n
#define TEXT(n) TEXT_OF(n)
__asm__(".text\n.skip " TEXT(PLACE) ", 0xcc\n");

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void many(const struct hashlane_engine *engine, enum hashlane_algorithm algorithm, u32 (*states)[8])
{
	struct hashlane_message messages[N];
	struct hashlane_section_call call = { engine, algorithm, N, messages, states, 0, SECTION };

	for (int i = 0; i < N; i++)
		messages[i] = (struct hashlane_message){ data[i], LEN };
	for (; call.from < LEN; call.from += SECTION)
		hashlane_section(&call);
}

static void one(const struct hashlane_engine *engine, enum hashlane_algorithm algorithm, u32 (*states)[8])
{
	struct hashlane_blocks_call call = { engine, algorithm, *states, data[0], SECTION / 64 };

	memset(states, 1, sizeof *states);
	for (int i = 0; i < N * LEN / SECTION; i++) {
		hashlane_blocks(&call);
		call.blocks = data[0] + (i + 1) * SECTION % (N * LEN);
	}
}

/* Returns the best of many short runs: the others were disturbed. */
static double rate(void (*run)(const struct hashlane_engine *, enum hashlane_algorithm, u32 (*)[8]),
		   const struct hashlane_engine *engine, enum hashlane_algorithm algorithm, double seconds)
{
	u32 states[N][8] = { 0 }, expected[N][8] = { 0 };
	double best = 1e9, end = now() + seconds;
	struct hashlane_engine portable;
	struct hashlane_engine_call make = { &portable, 1u << HASHLANE_PORTABLE };

	hashlane_engine(&make);
	run(&portable, algorithm, expected);
	run(engine, algorithm, states);
	if (memcmp(states, expected, sizeof states)) {
		fputs("native: a backend differs from portable\n", stderr);
		exit(1);
	}

	do {
		double start = now();

		run(engine, algorithm, states);
		if (now() - start < best)
			best = now() - start;
	} while (now() < end);
	return N * LEN / best * 1e-9;
}

/* Returns the time of a section that ends n messages of len bytes: the best of many. */
static double section(const struct hashlane_engine *engine, enum hashlane_algorithm algorithm, u32 n, size_t len,
		      double seconds)
{
	struct hashlane_message messages[N];
	u32 states[N][8];
	struct hashlane_section_call call = { engine, algorithm, n, messages, states, 0, len };
	double best = 1e9, end = now() + seconds;

	for (u32 i = 0; i < n; i++)
		messages[i] = (struct hashlane_message){ data[i], len };
	for (int i = 0; i < 100 || now() < end; i++) {
		double start = now();

		hashlane_section(&call);
		if (now() - start < best)
			best = now() - start;
	}
	return best;
}

static void print_section(const struct hashlane_engine *engine, enum hashlane_algorithm algorithm, const char *backend,
			  u32 lanes, u32 n, double seconds)
{
	size_t len = hashlane_section_len(section(engine, algorithm, n, HASHLANE_PROBE, seconds) * 1e9);

	printf("%s_x%u_%s %u %zu %.1f\n", algorithms[algorithm], lanes, backend, n, len,
	       section(engine, algorithm, n, len, seconds) * 1e6);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.1;
	int sections = argc > 2 && !strcmp(argv[2], "sections");

	for (size_t i = 0; i < sizeof data; i++)
		((u8 *)data)[i] = i * 2654435761u >> 13;
	for (u32 backend = 0; backend < HASHLANE_N_BACKENDS; backend++) {
		for (u32 algorithm = HASHLANE_SHA1; algorithm <= HASHLANE_SHA256; algorithm++) {
			struct hashlane_engine engine;
			struct hashlane_engine_call make = { &engine, 1u << backend };
			struct hashlane_kernel_call kernel = { &engine, algorithm, N, 0, 0 };

			hashlane_engine(&make);
			hashlane_kernel(&kernel);
			if (kernel.backend != backend)
				continue;
			if (sections) {
				print_section(&engine, algorithm, backends[backend], kernel.lanes, N, seconds);
				kernel.n = 1;
				hashlane_kernel(&kernel);
				print_section(&engine, algorithm, backends[kernel.backend], kernel.lanes, 1, seconds);
				continue;
			}
			if (kernel.lanes > 1)
				printf("%s_x%u_%s %.3f\n", algorithms[algorithm], kernel.lanes, backends[backend],
				       rate(many, &engine, algorithm, seconds));
			kernel.n = 1;
			hashlane_kernel(&kernel);
			if (kernel.backend == backend)
				printf("%s_x1_%s %.3f\n", algorithms[algorithm], backends[backend],
				       rate(one, &engine, algorithm, seconds));
		}
	}
	return 0;
}
