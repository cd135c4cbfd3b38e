/* Counters and lengths of queue disciplines, asked of the kernel over rtnetlink. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct reading {
    struct gnet_stats_basic basic;
    struct gnet_stats_queue queue;
    /* Of a law that counts them: dropped or marked early, dropped for want of room, marked. */
    unsigned early, full, marked;
};

static int sockets[MOST_HOSTS];
static FILE *queue_rows, *series_rows;

void open_queues(void)
{
    for (int i = 0; i < plan.n_queues; i++) {
        struct queue *queue = &plan.queues[i];
        enter(queue->host);
        if (!sockets[queue->host])
            sockets[queue->host] = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        queue->netlink = sockets[queue->host];
        queue->ifindex = (int)if_nametoindex(queue->device);
        if (queue->netlink < 0 || !queue->ifindex)
            fail("no queue at %s of %s", queue->device, plan.hosts[queue->host].name);
    }
    queue_rows = output("queues.csv");
    fputs("phase,link,host,packets,bytes,qlen,backlog,drops,signalled,full,marked,"
          "samples,sum_packets,sum_bytes,sum_squares\n", queue_rows);
    series_rows = output("queue_series.csv");
    fputs("time_ns,link,packets,bytes\n", series_rows);
}

static void copy(void *to, size_t size, const struct rtattr *from)
{
    size_t have = RTA_PAYLOAD(from);
    memcpy(to, RTA_DATA(from), have < size ? have : size);
}

/* tc_dualpi2_xstats of Linux 7.3, as far as it is read here: machines' headers may be older. */
struct dualpi2_counters {
    uint32_t prob, delay_c, delay_l, packets_in_c, packets_in_l, maxq, ecn_mark, step_marks;
};

/* The attribute `type` within `a`, or NULL. */
static const struct rtattr *within(const struct rtattr *a, int type)
{
    int left = (int)RTA_PAYLOAD(a);
    for (const struct rtattr *one = RTA_DATA(a); RTA_OK(one, left); one = RTA_NEXT(one, left))
        if (one->rta_type == type)
            return one;
    return NULL;
}

/* The sum over CAKE's tins. */
static unsigned marks_of_tins(const struct rtattr *own)
{
    const struct rtattr *tins = within(own, TCA_CAKE_STATS_TIN_STATS), *tin, *marked;
    unsigned sum = 0;
    for (int i = 1; tins && (tin = within(tins, i)); i++)
        if ((marked = within(tin, TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS))) {
            unsigned one = 0;
            copy(&one, sizeof one, marked);
            sum += one;
        }
    return sum;
}

/* What the discipline `kind` counts itself. */
static void read_own(struct reading *r, const char *kind, const struct rtattr *own)
{
    if (!strcmp(kind, "red")) {
        struct tc_red_xstats red = {0};
        copy(&red, sizeof red, own);
        r->early = red.early, r->full = red.pdrop, r->marked = red.marked;
    } else if (!strcmp(kind, "pie")) {
        struct tc_pie_xstats pie = {0};
        copy(&pie, sizeof pie, own);
        r->early = pie.dropped - pie.overlimit, r->full = pie.overlimit, r->marked = pie.ecn_mark;
    } else if (!strcmp(kind, "fq_pie")) {
        struct tc_fq_pie_xstats pie = {0};
        copy(&pie, sizeof pie, own);
        r->early = pie.dropped, r->full = pie.overlimit, r->marked = pie.ecn_mark;
    } else if (!strcmp(kind, "codel")) {
        struct tc_codel_xstats codel = {0};
        copy(&codel, sizeof codel, own);
        r->full = codel.drop_overlimit, r->marked = codel.ecn_mark + codel.ce_mark;
    } else if (!strcmp(kind, "fq_codel")) {
        struct tc_fq_codel_xstats codel = {0};
        copy(&codel, sizeof codel, own);
        r->full = codel.qdisc_stats.drop_overlimit, r->marked = codel.qdisc_stats.ecn_mark + codel.qdisc_stats.ce_mark;
    } else if (!strcmp(kind, "sfb")) {
        struct tc_sfb_xstats sfb = {0};
        copy(&sfb, sizeof sfb, own);
        r->full = sfb.queuedrop + sfb.childdrop, r->marked = sfb.marked;
    } else if (!strcmp(kind, "choke")) {
        struct tc_choke_xstats choke = {0};
        copy(&choke, sizeof choke, own);
        r->early = choke.early, r->full = choke.pdrop, r->marked = choke.marked;
    } else if (!strcmp(kind, "cake")) {
        r->marked = marks_of_tins(own);
    } else if (!strcmp(kind, "dualpi2")) {
        struct dualpi2_counters dual = {0};
        copy(&dual, sizeof dual, own);
        r->marked = dual.ecn_mark + dual.step_marks;
    }
}

static void read_stats(struct reading *r, const char *kind, const struct rtattr *stats)
{
    int left = RTA_PAYLOAD(stats);
    for (const struct rtattr *a = RTA_DATA(stats); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == TCA_STATS_BASIC)
            copy(&r->basic, sizeof r->basic, a);
        else if (a->rta_type == TCA_STATS_QUEUE)
            copy(&r->queue, sizeof r->queue, a);
        else if (a->rta_type == TCA_STATS_APP)
            read_own(r, kind, a);
    }
}

static struct reading read_queue(const struct queue *queue)
{
    /* NLM_F_ECHO: without it the kernel tells only those that listen for changes. */
    struct {
        struct nlmsghdr head;
        struct tcmsg tc;
    } ask = {{sizeof ask, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_ECHO, 0, 0},
             {.tcm_family = AF_UNSPEC, .tcm_ifindex = queue->ifindex, .tcm_handle = queue->handle}};
    static char answer[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
    struct reading r = {0};
    if (send(queue->netlink, &ask, sizeof ask, 0) < 0)
        fail("cannot ask for the queue of %s", queue->link);
    ssize_t n = recv(queue->netlink, answer, sizeof answer, MSG_DONTWAIT);
    const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
    if (n < (ssize_t)sizeof ask || head->nlmsg_type != RTM_NEWQDISC)
        fail("the kernel does not know the queue of %s", queue->link);
    int left = (int)(head->nlmsg_len - NLMSG_LENGTH(sizeof(struct tcmsg)));
    const struct rtattr *a = (const struct rtattr *)(answer + NLMSG_LENGTH(sizeof(struct tcmsg)));
    const char *kind = "";
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == TCA_KIND)
            kind = RTA_DATA(a);
        if (a->rta_type == TCA_STATS2)
            read_stats(&r, kind, a);
    }
    return r;
}

void poll_queues(void)
{
    for (int i = 0; i < plan.n_queues; i++) {
        struct queue *q = &plan.queues[i];
        if (!q->poll)
            continue;
        struct reading r = read_queue(q);
        uint64_t packets = r.queue.qlen, bytes = r.queue.backlog;
        q->samples++;
        q->sum_packets += packets;
        q->sum_bytes += bytes;
        q->sum_squares += packets * packets;
    }
}

void sample_queues(void)
{
    for (int i = 0; i < plan.n_queues; i++) {
        const struct queue *q = &plan.queues[i];
        if (!q->poll)
            continue;
        struct reading r = read_queue(q);
        fprintf(series_rows, "%lu,%s,%u,%u\n", now(), q->link, r.queue.qlen, r.queue.backlog);
    }
}

void write_queues(const char *phase)
{
    for (int i = 0; i < plan.n_queues; i++) {
        const struct queue *q = &plan.queues[i];
        struct reading r = read_queue(q);
        fprintf(queue_rows, "%s,%s,%s,%u,%llu,%u,%u,%u,%u,%u,%u,", phase, q->link, plan.hosts[q->host].name,
                r.basic.packets, (unsigned long long)r.basic.bytes, r.queue.qlen, r.queue.backlog, r.queue.drops,
                r.early, r.full, r.marked);
        fprintf(queue_rows, "%lu,%lu,%lu,%lu\n", q->samples, q->sum_packets, q->sum_bytes, q->sum_squares);
    }
}
