/* The life of a run: set up, start the clock, serve sockets and deadlines, report, power off. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

/* ns from the agreement on a start to the start: for the router to be at its post. */
enum { START_IN = 100000000 };

struct plan plan;
int poller;

/* Waits for sockets until `deadline`, ns since the start, and serves those that are ready. */
static void wait_until(uint64_t deadline)
{
    struct epoll_event events[64];
    uint64_t t = now(), left = deadline > t ? deadline - t : 0;
    struct timespec timeout = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    int n = epoll_pwait2(poller, events, 64, &timeout, NULL);
    if (n < 0 && errno != EINTR)
        fail("epoll_pwait2");
    read_clock();
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
