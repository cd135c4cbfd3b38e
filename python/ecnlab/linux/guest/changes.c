/* Links that change during the run: their rate (tbf and netem), delay and loss (netem), asked of the kernel over
 * rtnetlink. A change takes no virtual time but that of reading the clock, 256 ns. */
#define _GNU_SOURCE
#include "guest.h"
#include "netlink.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { TBF = 1 << 16, NETEM = 0x20 << 16 }; /* handles, as topology.py names them */

/* A link and its state at present. */
struct line {
    int netlink[2]; /* of the hosts with the queue and with the wire */
    int ifindex[2];
    uint32_t limit, burst, in_flight;
    uint64_t rate;
};

struct change {
    uint64_t at;
    int line;
    uint64_t rate;  /* B/s; 0: without a rate */
    uint64_t delay; /* ns */
    uint32_t loss;  /* of 2^32 - 1 */
};

static struct line *lines;
static struct change *changes;
static size_t n_lines, n_changes, room, next;

/* One end of the line: `device` in the namespace `host`. */
static void open_device(struct line *line, int end, int host, const char *device)
{
    enter(host);
    line->netlink[end] = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    line->ifindex[end] = (int)if_nametoindex(device);
    if (line->netlink[end] < 0 || !line->ifindex[end])
        fail("no link at %s of %s", device, plan.hosts[host].name);
}

void add_line(int near, const char *queue, int wire, const char *device, uint32_t limit, uint32_t burst, uint32_t in_flight)
{
    lines = realloc(lines, (n_lines + 1) * sizeof *lines);
    if (!lines)
        fail("memory");
    struct line *line = &lines[n_lines++];
    *line = (struct line){.limit = limit, .burst = burst, .in_flight = in_flight};
    open_device(line, 0, near, queue);
    open_device(line, 1, wire, device);
}

void add_change(uint64_t at, int line, uint64_t rate, uint64_t delay, uint32_t loss)
{
    errno = 0;
    if (line < 0 || (size_t)line >= n_lines)
        fail("no link %d changes", line);
    if (n_changes == room) {
        room = room ? 2 * room : 64;
        changes = realloc(changes, room * sizeof *changes);
        if (!changes)
            fail("memory");
    }
    changes[n_changes++] = (struct change){at, line, rate, delay, loss};
}

/* The rate in its 32-bit field, and for the rest in an attribute of `type`. */
static uint32_t append_rate(struct request *r, int type, uint64_t rate)
{
    if (rate > UINT32_MAX)
        append(r, type, &rate, sizeof rate);
    return rate > UINT32_MAX ? UINT32_MAX : (uint32_t)rate;
}

/* Sizes start with the IP header: a change without this table would remove the one that topology.py sets. */
static void append_sizes(struct request *r)
{
    struct tc_sizespec sizes = {.overhead = -14, .linklayer = TC_LINKLAYER_ETHERNET};
    struct rtattr *table = append(r, TCA_STAB | NLA_F_NESTED, NULL, 0);
    append(r, TCA_STAB_BASE, &sizes, sizeof sizes);
    close_options(r, table);
}

/* The bucket keeps its bytes; `limit` is also that of a FIFO inside, which the kernel sets to it. */
static void change_tbf(const struct line *line, uint64_t rate)
{
    struct request r = request(line->ifindex[0], TC_H_ROOT, TBF, 0);
    append(&r, TCA_KIND, "tbf", sizeof "tbf");
    append_sizes(&r);
    struct rtattr *options = append(&r, TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
    struct tc_tbf_qopt tbf = {.rate = {.linklayer = TC_LINKLAYER_ETHERNET}, .limit = line->limit};
    tbf.rate.rate = append_rate(&r, TCA_TBF_RATE64, rate);
    append(&r, TCA_TBF_BURST, &line->burst, sizeof line->burst);
    append(&r, TCA_TBF_PARMS, &tbf, sizeof tbf);
    close_options(&r, options);
    ask(line->netlink[0], &r, "tbf");
}

/* netem's options are a structure, with the attributes behind it. */
static void change_netem(const struct line *line, const struct change *change)
{
    struct request r = request(line->ifindex[1], TC_H_ROOT, NETEM, 0);
    append(&r, TCA_KIND, "netem", sizeof "netem");
    struct tc_netem_qopt netem = {.limit = line->in_flight, .loss = change->loss};
    struct rtattr *options = append(&r, TCA_OPTIONS, &netem, sizeof netem);
    int64_t delay = (int64_t)change->delay;
    append(&r, TCA_NETEM_LATENCY64, &delay, sizeof delay);
    if (change->rate) {
        struct tc_netem_rate rate = {.packet_overhead = -14};
        rate.rate = append_rate(&r, TCA_NETEM_RATE64, change->rate);
        append(&r, TCA_NETEM_RATE, &rate, sizeof rate);
    }
    close_options(&r, options);
    ask(line->netlink[1], &r, "netem");
}

uint64_t next_change(void)
{
    return next < n_changes ? changes[next].at : UINT64_MAX;
}

void change_links(void)
{
    while (next_change() <= now()) {
        const struct change *change = &changes[next++];
        struct line *line = &lines[change->line];
        if (change->rate && change->rate != line->rate)
            change_tbf(line, change->rate);
        line->rate = change->rate;
        change_netem(line, change);
    }
}
