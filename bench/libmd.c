/*
 * Compares the speed of two libraries with libmd's functions: hashes messages of several lengths with Init, Update
 * and Final, and prints their times as JSON for bench/pairs.py.
 *
 *     bench-libmd /usr/lib/x86_64-linux-gnu/libmd.so.0 target/release/libmd.so.0
 *
 * Exit status: 0 measured, 1 digests differ, 2 not measured.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sha1.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "turns.h"

/* Functions of either algorithm: the contexts and the digest are passed as plain memory. */
struct functions {
    void (*init)(void *);
    void (*update)(void *, const unsigned char *, size_t);
    void (*final)(unsigned char *, void *);
};

static double time_of(const void *library, size_t len, unsigned char *digest)
{
    const struct functions *functions = library;
    union {
        SHA1_CTX sha1;
        SHA2_CTX sha2;
    } context;
    size_t messages = BYTES_PER_ROUND / len;
    double start = now();
    for (size_t i = 0; i < messages; i++) {
        functions->init(&context);
        functions->update(&context, message, len);
        functions->final(digest, &context);
    }
    return (now() - start) * 1e9 / (double)messages;
}

static int load(struct functions *functions, void *library, const char *algorithm)
{
    char name[32];
    void **pointers[] = {(void **)&functions->init, (void **)&functions->update, (void **)&functions->final};
    const char *suffixes[] = {"Init", "Update", "Final"};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", algorithm, suffixes[i]);
        *pointers[i] = dlsym(library, name);
        if (!*pointers[i]) {
            fprintf(stderr, "bench-libmd: %s\n", dlerror());
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    static const char *algorithms[] = {"SHA1", "SHA256"};
    if (argc != 3) {
        fprintf(stderr, "usage: bench-libmd LIBRARY LIBRARY\n");
        return 2;
    }
    void *libraries[2];
    for (int i = 0; i < 2; i++) {
        libraries[i] = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL);
        if (!libraries[i]) {
            fprintf(stderr, "bench-libmd: %s\n", dlerror());
            return 2;
        }
    }
    fill_message();
    for (int a = 0; a < 2; a++) {
        struct functions functions[2];
        if (!load(&functions[0], libraries[0], algorithms[a]) || !load(&functions[1], libraries[1], algorithms[a]))
            return 2;
        const void *both[2] = {&functions[0], &functions[1]};
        if (!compare("bench-libmd", algorithms[a], time_of, both))
            return 1;
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
