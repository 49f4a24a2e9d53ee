/*
 * Stops one thread inside C_DigestUpdate, where it reads a protected page, while another thread uses the module. A lock
 * that all calls need would stop both, until the alarm ends the program.
 */
#include "module.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static CK_MECHANISM sha256 = {CKM_SHA256, NULL, 0};
static sem_t is_reading, may_continue;
static unsigned char *page;
static long page_len;
static CK_SESSION_HANDLE session;

/* The signal comes from the thread's own read, so that calls which are unsafe in other handlers are safe here. */
static void protected_page(int signal, siginfo_t *info, void *unused)
{
    (void)signal;
    (void)unused;
    unsigned char *at = info->si_addr;
    if (at < page || at >= page + page_len)
        abort();
    sem_post(&is_reading);
    while (sem_wait(&may_continue) != 0) {
    }
    mprotect(page, (size_t)page_len, PROT_READ);
}

static void *update(void *unused)
{
    OK(p11->C_DigestUpdate(session, page, (CK_ULONG)page_len));
    return unused;
}

/* Calls `body` while another thread is inside C_DigestUpdate for `session`. */
static void during_update(void (*body)(void))
{
    pthread_t thread;
    session = open_session(0);
    OK(p11->C_DigestInit(session, &sha256));
    CHECK(mprotect(page, (size_t)page_len, PROT_NONE) == 0);
    CHECK(pthread_create(&thread, NULL, update, NULL) == 0);
    CHECK(sem_wait(&is_reading) == 0);
    body();
    CHECK(sem_post(&may_continue) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void use_another_session(void)
{
    unsigned char digest[32];
    CK_ULONG len = sizeof digest;
    CK_SESSION_INFO info;
    CK_SESSION_HANDLE other = open_session(0);
    CK_OBJECT_HANDLE key = key_of(other, "b");
    OK(p11->C_DigestInit(other, &sha256));
    OK(p11->C_DigestUpdate(other, (unsigned char *)"a", 1));
    OK(p11->C_DigestKey(other, key));
    OK(p11->C_DigestFinal(other, digest, &len));
    OK(p11->C_DestroyObject(other, key));
    OK(p11->C_CloseSession(other));
    OK(p11->C_GetSessionInfo(session, &info));
}

static void close_session_in_use(void)
{
    OK(p11->C_CloseSession(session));
}

static void finalize_in_use(void)
{
    OK(p11->C_Finalize(NULL));
}

int main(int argc, char **argv)
{
    struct sigaction action;
    unsigned char digest[32];
    CK_ULONG len = sizeof digest;
    CHECK(argc == 2);
    alarm(60);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = protected_page;
    action.sa_flags = SA_SIGINFO;
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK(sem_init(&is_reading, 0, 0) == 0 && sem_init(&may_continue, 0, 0) == 0);
    page_len = sysconf(_SC_PAGESIZE);
    page = mmap(NULL, (size_t)page_len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    load(argv[1]);
    OK(p11->C_Initialize(NULL));
    during_update(use_another_session);
    OK(p11->C_DigestFinal(session, digest, &len));
    during_update(close_session_in_use);
    EXPECT(CKR_SESSION_HANDLE_INVALID, p11->C_DigestFinal(session, digest, &len));
    during_update(finalize_in_use);
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_DigestFinal(session, digest, &len));
    return 0;
}
