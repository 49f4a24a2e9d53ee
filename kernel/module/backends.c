// SPDX-License-Identifier: MIT OR GPL-2.0
/* The backends: their names, and which of them may run. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "internal.h"

static char *backends;
module_param(backends, charp, 0444);
MODULE_PARM_DESC(backends, "Backends to use besides portable, for example sse2,avx2 (default: all that the CPU has)");

static const char *const backend_names[] = {
#define NAME(backend, text) text,
	HASHLANE_BACKENDS(NAME)
#undef NAME
};

const char *hl_backend_name(u32 backend)
{
	return backend < HASHLANE_N_BACKENDS ? backend_names[backend] : "unknown";
}

/* The kernel's view of the CPU counts, so that clearcpuid= and the like are obeyed. */
static u32 __init cpu_backends(void)
{
	bool ymm = boot_cpu_has(X86_FEATURE_AVX) && cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
	bool zmm = ymm && boot_cpu_has(X86_FEATURE_AVX512F) && cpu_has_xfeatures(XFEATURE_MASK_AVX512, NULL);
	bool avx2 = ymm && boot_cpu_has(X86_FEATURE_AVX2) && boot_cpu_has(X86_FEATURE_BMI1) &&
		    boot_cpu_has(X86_FEATURE_BMI2);
	u32 bits = BIT(HASHLANE_PORTABLE) | BIT(HASHLANE_SSE2);

	if (boot_cpu_has(X86_FEATURE_SSSE3))
		bits |= BIT(HASHLANE_SSSE3);
	if (ymm)
		bits |= BIT(HASHLANE_AVX);
	if (avx2)
		bits |= BIT(HASHLANE_AVX2);
	if (zmm && avx2 && boot_cpu_has(X86_FEATURE_AVX512VL))
		bits |= BIT(HASHLANE_AVX512VL);
	if (zmm && boot_cpu_has(X86_FEATURE_AVX512BW))
		bits |= BIT(HASHLANE_AVX512);
	if (boot_cpu_has(X86_FEATURE_SHA_NI) && boot_cpu_has(X86_FEATURE_SSSE3) && boot_cpu_has(X86_FEATURE_XMM4_1))
		bits |= BIT(HASHLANE_SHA_NI);
	return bits;
}

/* Reads the parameter. A negative result is an error. */
static int __init named_backends(void)
{
	char *copy, *rest, *name;
	int bits = 0;

	if (!backends)
		return BIT(HASHLANE_N_BACKENDS) - 1;
	copy = rest = kstrdup(backends, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	while (bits >= 0 && (name = strsep(&rest, ","))) {
		int backend = match_string(backend_names, HASHLANE_N_BACKENDS, name);

		if (backend < 0)
			pr_err("backends=%s: unknown backend \"%s\"\n", backends, name);
		bits = backend < 0 ? -EINVAL : bits | BIT(backend);
	}
	kfree(copy);
	return bits;
}

static void __init report(u32 allowed)
{
	char list[80] = "";
	unsigned int backend;

	for (backend = 0; backend < HASHLANE_N_BACKENDS; backend++)
		if (allowed & BIT(backend)) {
			strlcat(list, " ", sizeof(list));
			strlcat(list, hl_backend_name(backend), sizeof(list));
		}
	pr_info("backends:%s\n", list);
}

int __init hl_allowed_backends(u32 *allowed)
{
	int named = named_backends();

	if (named < 0)
		return named;
	*allowed = cpu_backends() & (named | BIT(HASHLANE_PORTABLE));
	report(*allowed);
	return 0;
}
