/*
 * A chain of dependent additions. Each takes one cycle on every common CPU. The barrier prevents the
 * compiler from combining them. The summand is in a register, because some CPUs fold additions of
 * small constants and would take half the time.
 */
#include <stddef.h>
#include <stdint.h>

#define ADD x += summand; __asm__ volatile("" : "+r"(x));
#define ADD_8 ADD ADD ADD ADD ADD ADD ADD ADD

uint64_t bench_add_chain(size_t n_times_64, uint64_t summand)
{
        uint64_t x = 0;

        __asm__ volatile("" : "+r"(summand));
        for (size_t i = 0; i < n_times_64; i++) {
                ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8
        }
        return x;
}
