/* For tests/anywhere.sh, loaded before libfaketime: that shifts the moment until which a thread sleeps, even one of the
   monotonic clock, which it was told to leave alone (FAKETIME_DONT_FAKE_MONOTONIC). Sleeping until a moment 40 days before
   the boot is EINVAL, and that is every time.sleep() of Python 3.11. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int sleeping(clockid_t, int, const struct timespec *, struct timespec *);

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    if (clock != CLOCK_MONOTONIC)
        return ((sleeping *)dlsym(RTLD_NEXT, "clock_nanosleep"))(clock, flags, until, left);
    return syscall(SYS_clock_nanosleep, clock, flags, until, left) ? errno : 0;
}
