/* The life of a run: set up, start the clock, serve sockets and deadlines, report, power off. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ns from the agreement on a start to the start: for the router to be at its post. */
enum { START_IN = 100000000 };

struct plan plan;
int poller;
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

static void stop(void)
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

/* Waits for sockets until `deadline`, ns since the start, and serves those that are ready. */
static void wait_until(uint64_t deadline)
{
    struct epoll_event events[64];
    uint64_t t = now(), left = deadline > t ? deadline - t : 0;
    struct timespec timeout = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    int n = epoll_pwait2(poller, events, 64, &timeout, NULL);
    if (n < 0 && errno != EINTR)
        fail("epoll_pwait2");
    present = clock_at(CLOCK_MONOTONIC) - origin;
    for (int i = 0; i < n; i++)
        serve(events[i].data.ptr, events[i].events);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void traffic(void)
{
    uint64_t next_poll = 0, next_sample = plan.sample ? 0 : UINT64_MAX;
    bool warm = false;
    for (;;) {
        uint64_t t = now();
        if (!warm && t >= plan.warmup) {
            warm = true;
            write_flows("warm");
            write_queues("warm");
        }
        if (t >= plan.duration)
            break;
        change_links();
        if (t >= next_poll) {
            poll_queues();
            read_taps();
            next_poll += plan.poll;
        }
        if (t >= next_sample) {
            sample_flows();
            sample_queues();
            next_sample += plan.sample;
        }
        wake_flows();
        uint64_t deadline = least(least(next_poll, next_sample), least(next_wake(), plan.duration));
        deadline = least(deadline, next_change());
        wait_until(warm ? deadline : least(deadline, plan.warmup));
    }
    write_flows("end");
    write_queues("end");
    write_objects();
}

/* Both the router and we begin at a moment that is yet to come; in virtual time, what the kernel has put off until it has
 * nothing else to do is then done. */
static void agree_on_start(void)
{
    origin = clock_at(CLOCK_MONOTONIC) + START_IN;
    struct timespec start = {(time_t)(origin / 1000000000u), (long)(origin % 1000000000u)};
    if (control >= 0)
        tell("start %lu\n", origin);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &start, NULL);
}

static void run(void)
{
    poller = epoll_create1(0);
    open_queues();
    open_listeners();
    open_taps();
    agree_on_start();
    traffic();
    close_taps();
    if (control >= 0)
        write_devices();
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "wall"))
        control = atoi(argv[2]);
    if (mount("proc", "/proc", "proc", 0, "") || mount("run", "/run", "tmpfs", 0, "") || mkdir("/run/netns", 0755))
        fail("cannot mount what every system has");
    if (control < 0 && mount("dev", "/dev", "devtmpfs", 0, ""))
        fail("cannot mount the devices");
    signal(SIGPIPE, SIG_IGN);
    /* Else a deadline may be 50 us late, to be met together with another. */
    if (prctl(PR_SET_TIMERSLACK, 1))
        fail("prctl");
    set_up("/plan");
    if (plan.replays)
        replay(plan.replays - 1);
    else
        run();
    fclose(output("done"));
    rendezvous("over\n");
    stop();
}
