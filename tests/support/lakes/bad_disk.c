/* A bad disk, to be preloaded: syncs take a random time up to BAD_DISK_MS, and while the file BAD_DISK_FULL exists nothing
   more fits onto it (half a write may). Only regular files and folders are touched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void wait_at_random(void) {
    const char *most = getenv("BAD_DISK_MS");
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned seed = (unsigned)now.tv_nsec ^ (unsigned)gettid();
    double x = rand_r(&seed) / (double)RAND_MAX;
    double ms = most ? x * x * x * atof(most) : 0; /* mostly short, now and then the longest */
    struct timespec length = {(time_t)(ms / 1000), (long)((ms - 1000 * (time_t)(ms / 1000)) * 1e6)};
    nanosleep(&length, NULL);
}

static int is_full(int fd) {
    const char *flag = getenv("BAD_DISK_FULL");
    struct stat about;
    return flag && access(flag, F_OK) == 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))

int fdatasync(int fd) {
    wait_at_random();
    return REAL("fdatasync", int (*)(int))(fd);
}

int fsync(int fd) {
    wait_at_random();
    return REAL("fsync", int (*)(int))(fd);
}

static ssize_t no_room(void) {
    errno = ENOSPC;
    return -1;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    ssize_t (*real)(int, const void *, size_t) = REAL("write", ssize_t (*)(int, const void *, size_t));
    if (is_full(fd))
        return count > 1 && (count & 1) ? real(fd, bytes, count / 2) : no_room();
    return real(fd, bytes, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = REAL("pwrite64", ssize_t (*)(int, const void *, size_t, off64_t));
    if (is_full(fd))
        return count > 1 && (count & 1) ? real(fd, bytes, count / 2, at) : no_room();
    return real(fd, bytes, count, at);
}
