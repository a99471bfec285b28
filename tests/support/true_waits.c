/* For tests/anywhere.sh, loaded before libfaketime (0.9.10): whoever waits so long, waits so long, without its help. It
   - shifts the moment until which a thread sleeps, even one of the monotonic clock, which it was told to leave alone
     (FAKETIME_DONT_FAKE_MONOTONIC): sleeping until 40 days before the boot is EINVAL, and that is every time.sleep() of
     Python 3.11;
   - tells the true time to a signal handler that interrupts a wait which it wraps: each timeout of PostgreSQL is then
     40 days away, and a deadlock is never found;
   - ends a process that may not open the memory which all its processes share, as that of another user may not, or one
     whose file systems are read-only. A clock that is shifted by so much needs none: each process is given its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS 8 /* bytes of a set of signals, for the kernel */

typedef int sleeping(clockid_t, int, const struct timespec *, struct timespec *);

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    if (clock != CLOCK_MONOTONIC)
        return ((sleeping *)dlsym(RTLD_NEXT, "clock_nanosleep"))(clock, flags, until, left);
    return syscall(SYS_clock_nanosleep, clock, flags, until, left) ? errno : 0;
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int ms, const sigset_t *signals)
{
    return syscall(SYS_epoll_pwait, epoll, events, most, ms, signals, SIGNALS);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int ms)
{
    return epoll_pwait(epoll, events, most, ms, NULL);
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *length, const sigset_t *signals)
{
    struct timespec left = length ? *length : (struct timespec){0}; /* the kernel writes into it */
    return syscall(SYS_ppoll, files, count, length ? &left : NULL, signals, SIGNALS);
}

int poll(struct pollfd *files, nfds_t count, int ms)
{
    struct timespec length = {ms / 1000, ms % 1000 * 1000000L};
    return ppoll(files, count, ms < 0 ? NULL : &length, NULL);
}

static int wait_for(int count, fd_set *in, fd_set *out, fd_set *except, struct timespec *left, const sigset_t *signals)
{
    struct {
        const sigset_t *signals;
        size_t bytes;
    } mask = {signals, SIGNALS};
    return syscall(SYS_pselect6, count, in, out, except, left, &mask);
}

int pselect(int count, fd_set *in, fd_set *out, fd_set *except, const struct timespec *length, const sigset_t *signals)
{
    struct timespec left = length ? *length : (struct timespec){0};
    return wait_for(count, in, out, except, length ? &left : NULL, signals);
}

int select(int count, fd_set *in, fd_set *out, fd_set *except, struct timeval *left)
{
    struct timespec length = left ? (struct timespec){left->tv_sec, left->tv_usec * 1000} : (struct timespec){0};
    int found = wait_for(count, in, out, except, left ? &length : NULL, NULL);
    if (left)
        *left = (struct timeval){length.tv_sec, length.tv_nsec / 1000};
    return found;
}

static sem_t free_for_all;

static int is_of_libfaketime(const char *name)
{
    return strncmp(name, "/faketime_", 10) == 0;
}

sem_t *sem_open(const char *name, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    unsigned value = flags & O_CREAT ? va_arg(more, unsigned) : 0;
    va_end(more);
    if (!is_of_libfaketime(name))
        return ((sem_t * (*)(const char *, int, mode_t, unsigned)) dlsym(RTLD_NEXT, "sem_open"))(name, flags, mode, value);
    return sem_init(&free_for_all, 0, 1) ? SEM_FAILED : &free_for_all;
}

int sem_close(sem_t *semaphore)
{
    return semaphore == &free_for_all ? 0 : ((int (*)(sem_t *))dlsym(RTLD_NEXT, "sem_close"))(semaphore);
}

int shm_open(const char *name, int flags, mode_t mode)
{
    if (!is_of_libfaketime(name))
        return ((int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, "shm_open"))(name, flags, mode);
    int file = memfd_create(name, MFD_CLOEXEC);
    return file < 0 || ftruncate(file, 4096) ? -1 : file;
}
