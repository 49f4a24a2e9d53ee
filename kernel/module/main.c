// SPDX-License-Identifier: MIT OR GPL-2.0
/* Loading and unloading. */
#include <linux/module.h>
#include "internal.h"

/* The generic code of Linux has 100, and code for a CPU more. */
static int priority = 50;
module_param(priority, int, 0444);
MODULE_PARM_DESC(priority, "Priority of the algorithms (default: 50, below those of Linux)");

static int __init hl_init(void)
{
	u32 allowed;
	int err = hl_allowed_backends(&allowed);

	if (err)
		return err;
	err = hl_scratch_alloc();
	if (err)
		return err;
	err = hl_selftest(allowed);
	if (!err) {
		hl_make_engine(&hl_plan.engine, allowed);
		hl_measure_sections(&hl_plan);
		err = hl_register(priority);
	}
	if (err)
		hl_scratch_free();
	return err;
}

static void __exit hl_exit(void)
{
	hl_unregister();
	hl_scratch_free();
}

module_init(hl_init);
module_exit(hl_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("SHA-1 and SHA-256 of one message or of many at once");
