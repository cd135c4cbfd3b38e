/* Clocks, namespaces, files and errors, for all parts of the guest. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

uint64_t origin;
static uint64_t present;

uint64_t nanoseconds(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_at(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return nanoseconds(t);
}

void read_clock(void)
{
    present = clock_at(CLOCK_MONOTONIC) - origin;
}

/* Work takes no virtual time: the clock moves only while we wait. Real time it takes. */
uint64_t now(void)
{
    if (control < 0)
        return present;
    uint64_t t = clock_at(CLOCK_MONOTONIC);
    return t > origin ? t - origin : 0;
}

FILE *output(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "/out/%s", name);
    FILE *file = fopen(path, "w");
    if (!file)
        fail("cannot write %s", path);
    return file;
}

void stop(void)
{
    fflush(NULL);
    if (control >= 0)
        _exit(0);
    sync();
    reboot(RB_POWER_OFF);
    _exit(0);
}

void fail(const char *format, ...)
{
    FILE *file = fopen("/out/error", "w");
    if (file) {
        va_list arguments;
        va_start(arguments, format);
        int code = errno;
        vfprintf(file, format, arguments);
        if (code)
            fprintf(file, ": %s", strerror(code));
        fputc('\n', file);
        va_end(arguments);
    }
    stop();
    _exit(1);
}

void enter(int host)
{
    if (setns(plan.hosts[host].fd, CLONE_NEWNET))
        fail("cannot enter the namespace %s", plan.hosts[host].name);
}

uint64_t time_of(struct msghdr *message)
{
    struct timespec t = {0};
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS)
            memcpy(&t, CMSG_DATA(c), sizeof t);
    return nanoseconds(t);
}
