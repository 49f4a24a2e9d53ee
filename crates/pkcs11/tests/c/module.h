/* Loads the module, and checks of the test programs. A failed check names its place and ends the program. */
#ifndef MODULE_H
#define MODULE_H

#include <dlfcn.h>
#include <p11-kit/pkcs11.h>

/* CHECK */
#include "../../../capi/tests/c/check.h"

/* Checks that a call returns a code. */
#define EXPECT(code, call)                                                                            \
    do {                                                                                              \
        CK_RV found_ = (call);                                                                        \
        if (found_ != (code)) {                                                                       \
            fprintf(stderr, "%s:%d: %s: found 0x%lx, expected %s\n", __FILE__, __LINE__, #call, found_, #code); \
            exit(1);                                                                                  \
        }                                                                                             \
    } while (0)

#define OK(call) EXPECT(CKR_OK, call)

static void *library;
static CK_FUNCTION_LIST *p11;

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);
    CHECK(found != NULL);
    return found;
}

static inline void load(const char *path)
{
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    CK_C_GetFunctionList get;
    *(void **)&get = symbol("C_GetFunctionList");
    OK(get(&p11));
}

static inline CK_SESSION_HANDLE open_session(CK_FLAGS flags)
{
    CK_SESSION_HANDLE session;
    OK(p11->C_OpenSession(0, CKF_SERIAL_SESSION | flags, NULL, NULL, &session));
    return session;
}

/* Creates a generic secret with one more attribute, which `type` 0xffff leaves out. */
static inline CK_RV make_key(CK_SESSION_HANDLE session, const void *value, CK_ULONG len, CK_ATTRIBUTE_TYPE type,
                             CK_BBOOL flag, CK_OBJECT_HANDLE *key)
{
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE kind = CKK_GENERIC_SECRET;
    CK_ATTRIBUTE template[] = {
        {CKA_CLASS, &class, sizeof class},
        {CKA_KEY_TYPE, &kind, sizeof kind},
        {CKA_VALUE, (void *)value, len},
        {type, &flag, sizeof flag},
    };
    return p11->C_CreateObject(session, template, type == 0xffff ? 3 : 4, key);
}

static inline CK_OBJECT_HANDLE key_of(CK_SESSION_HANDLE session, const char *text)
{
    CK_OBJECT_HANDLE key;
    OK(make_key(session, text, strlen(text), 0xffff, 0, &key));
    return key;
}

#endif
