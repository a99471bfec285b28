/* Preloaded into PostgreSQL by test_postmaster.py: makes connecting slow by repeating a pointless call.
 *
 * AT_FORK_PARENT and AT_FORK_CHILD say how often the call is made before each fork, in the process that forks, and after it, in
 * the new one. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int in_parent, in_child;

static void repeat(int times) {
    for (int i = 0; i < times; i++)
        access("/dev/null", F_OK);
}

static void before_fork(void) { repeat(in_parent); }
static void after_fork_in_child(void) { repeat(in_child); }

__attribute__((constructor)) static void begin(void) {
    const char *parent = getenv("AT_FORK_PARENT"), *child = getenv("AT_FORK_CHILD");
    in_parent = parent ? atoi(parent) : 0;
    in_child = child ? atoi(child) : 0;
    pthread_atfork(before_fork, NULL, after_fork_in_child);
}
