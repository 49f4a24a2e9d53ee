/* Eight threads, children of fork, and a module that is unloaded. A second argument asks for fewer rounds. */
#include "module.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_THREADS = 8 };

static CK_MECHANISM sha256 = {CKM_SHA256, NULL, 0}, hmac = {CKM_SHA256_HMAC, NULL, 0};
static unsigned char message[300], digest[32], mac[32];
static CK_SESSION_HANDLE shared;
static CK_OBJECT_HANDLE key;
static atomic_int stop;
static int n_rounds = 400, n_children = 20;

static void use(CK_SESSION_HANDLE session)
{
    unsigned char found[32];
    CK_ULONG len = sizeof found;
    OK(p11->C_DigestInit(session, &sha256));
    OK(p11->C_DigestUpdate(session, message, 100));
    OK(p11->C_DigestUpdate(session, message + 100, 200));
    OK(p11->C_DigestFinal(session, found, &len));
    CHECK(len == 32 && memcmp(found, digest, 32) == 0);
    OK(p11->C_SignInit(session, &hmac, key));
    OK(p11->C_Sign(session, message, sizeof message, found, &len));
    CHECK(len == 32 && memcmp(found, mac, 32) == 0);
}

static void *work(void *unused)
{
    for (int round = 0; round < n_rounds; round++) {
        CK_SESSION_HANDLE session = open_session(0);
        key_of(session, "another");
        use(session);
        OK(p11->C_CloseSession(session));
        /* All threads use one session: their operations meet, and nothing worse happens. */
        CK_RV result = p11->C_DigestInit(shared, &sha256);
        CHECK(result == CKR_OK || result == CKR_OPERATION_ACTIVE);
        result = p11->C_DigestUpdate(shared, message, sizeof message);
        CHECK(result == CKR_OK || result == CKR_OPERATION_NOT_INITIALIZED);
        unsigned char found[32];
        CK_ULONG len = sizeof found;
        result = p11->C_DigestFinal(shared, found, &len);
        CHECK(result == CKR_OK || result == CKR_OPERATION_NOT_INITIALIZED);
    }
    return unused;
}

/* Keeps the locks of the module busy while children are made. */
static void *open_and_close(void *unused)
{
    while (!stop)
        OK(p11->C_CloseSession(open_session(0)));
    return unused;
}

/* Runs a function in a child, which must succeed. */
static void in_child(void (*body)(int), int argument)
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(60); /* A lock that is never released must not hang the test. */
        body(argument);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void use_in_child(int depth)
{
    CK_INFO info;
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GetInfo(&info));
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_DigestInit(shared, &sha256));
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_Finalize(NULL));
    OK(p11->C_Initialize(NULL));
    EXPECT(CKR_CRYPTOKI_ALREADY_INITIALIZED, p11->C_Initialize(NULL));
    EXPECT(CKR_SESSION_HANDLE_INVALID, p11->C_CloseSession(shared));
    CK_SESSION_HANDLE session = open_session(0);
    key = key_of(session, "key");
    use(session);
    if (depth > 0) {
        in_child(use_in_child, depth - 1);
        use(session);
    }
    OK(p11->C_Finalize(NULL));
}

static void nothing(int unused)
{
    (void)unused;
}

static void children(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(threads + i, NULL, open_and_close, NULL) == 0);
    for (int i = 0; i < n_children; i++)
        in_child(use_in_child, 2);
    stop = 1;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    pthread_t threads[N_THREADS];
    CK_ULONG len = 32;
    CHECK(argc == 2 || argc == 3);
    if (argc == 3)
        n_rounds = n_children = 3;
    load(argv[1]);
    OK(p11->C_Initialize(NULL));
    memset(message, 'm', sizeof message);
    shared = open_session(0);
    key = key_of(shared, "key");
    OK(p11->C_DigestInit(shared, &sha256));
    OK(p11->C_Digest(shared, message, sizeof message, digest, &len));
    OK(p11->C_SignInit(shared, &hmac, key));
    OK(p11->C_Sign(shared, message, sizeof message, mac, &len));
    for (int i = 0; i < N_THREADS; i++)
        CHECK(pthread_create(threads + i, NULL, work, NULL) == 0);
    for (int i = 0; i < N_THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    children();
    p11->C_DigestInit(shared, NULL);
    use(shared);
    OK(p11->C_Finalize(NULL));
    /* The handler of fork goes with the module. */
    CHECK(dlclose(library) == 0);
    in_child(nothing, 0);
    return 0;
}
