/*
 * Compares the speed of two PKCS#11 modules: hashes messages of several lengths with C_DigestInit and C_Digest, and prints
 * their times as JSON for bench/pairs.py. The second module is Hashlane's.
 *
 *     bench-pkcs11 /usr/lib/softhsm/libsofthsm2.so target/release/libhashlane_pkcs11.so
 *
 * Exit status: 0 measured, 1 digests differ, 2 not measured.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <p11-kit/pkcs11.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

enum { MAX_MESSAGES = 50000 };

struct module {
    CK_FUNCTION_LIST *functions;
    CK_SESSION_HANDLE session;
};

static void require(CK_RV result, const char *call)
{
    if (result != CKR_OK) {
        fprintf(stderr, "bench-pkcs11: %s: error 0x%lx\n", call, result);
        exit(2);
    }
}

/* SoftHSM2 opens a session only on a token with a label and a PIN. */
static void initialise_token(const struct module *module, CK_SLOT_ID *slots)
{
    CK_TOKEN_INFO info;
    CK_ULONG count = 16;
    unsigned char pin[] = "not secret", label[33] = "benchmark                       ";
    require(module->functions->C_GetTokenInfo(slots[0], &info), "C_GetTokenInfo");
    if (!(info.flags & CKF_TOKEN_INITIALIZED)) {
        require(module->functions->C_InitToken(slots[0], pin, sizeof pin - 1, label), "C_InitToken");
        require(module->functions->C_GetSlotList(CK_TRUE, slots, &count), "C_GetSlotList");
    }
}

static void load(struct module *module, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CK_C_GetFunctionList get = NULL;
    CK_SLOT_ID slots[16];
    CK_ULONG count = 16;
    if (library)
        *(void **)&get = dlsym(library, "C_GetFunctionList");
    if (!get) {
        fprintf(stderr, "bench-pkcs11: %s\n", dlerror());
        exit(2);
    }
    require(get(&module->functions), path);
    require(module->functions->C_Initialize(NULL), "C_Initialize");
    require(module->functions->C_GetSlotList(CK_TRUE, slots, &count), "C_GetSlotList");
    if (count == 0) {
        fprintf(stderr, "bench-pkcs11: %s has no token\n", path);
        exit(2);
    }
    initialise_token(module, slots);
    require(module->functions->C_OpenSession(slots[0], CKF_SERIAL_SESSION, NULL, NULL, &module->session), "C_OpenSession");
}

/* A module with the mechanism to compare. */
struct contestant {
    const struct module *module;
    CK_MECHANISM_TYPE type;
};

static double time_of(const void *library, size_t len, unsigned char *digest)
{
    const struct contestant *contestant = library;
    const struct module *module = contestant->module;
    CK_MECHANISM mechanism = {contestant->type, NULL, 0};
    size_t messages = BYTES_PER_ROUND / len < MAX_MESSAGES ? BYTES_PER_ROUND / len : MAX_MESSAGES;
    double start = now();
    for (size_t i = 0; i < messages; i++) {
        CK_ULONG digest_len = 32;
        require(module->functions->C_DigestInit(module->session, &mechanism), "C_DigestInit");
        require(module->functions->C_Digest(module->session, message, len, digest, &digest_len), "C_Digest");
    }
    return (now() - start) * 1e9 / (double)messages;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        CK_MECHANISM_TYPE type;
    } mechanisms[] = {{"CKM_SHA_1", CKM_SHA_1}, {"CKM_SHA256", CKM_SHA256}};
    struct module modules[2];
    if (argc != 3) {
        fprintf(stderr, "usage: bench-pkcs11 MODULE MODULE\n");
        return 2;
    }
    for (int i = 0; i < 2; i++)
        load(modules + i, argv[1 + i]);
    fill_message();
    for (int m = 0; m < 2; m++) {
        struct contestant contestants[2];
        const void *both[2] = {&contestants[0], &contestants[1]};
        for (int i = 0; i < 2; i++)
            contestants[i] = (struct contestant){modules + i, mechanisms[m].type};
        if (!compare("bench-pkcs11", mechanisms[m].name, time_of, both))
            return 1;
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
