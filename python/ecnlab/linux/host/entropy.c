/* Loaded into the kernel's process on the host (LD_PRELOAD): its entropy becomes a function of ECNLAB_SEED, so that a
 * run can be repeated bit for bit. The kernel gets all it has from getrandom() (arch/um/include/asm/archrandom.h). */
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

/* SplitMix64 (Steele, Lea & Flood 2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

ssize_t getrandom(void *buffer, size_t size, unsigned int flags)
{
    static uint64_t state;
    static int seeded;
    (void)flags;
    if (!seeded) {
        const char *seed = getenv("ECNLAB_SEED");
        state = seed ? strtoull(seed, NULL, 10) : 0;
        seeded = 1;
    }
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)buffer)[i] = (unsigned char)next(&state);
    return (ssize_t)size;
}
