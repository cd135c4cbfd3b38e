/* Counters and lengths of queue disciplines, asked of the kernel over rtnetlink. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Texts and attributes are those of the kernel's answer, until the next one comes. */
struct reading {
    const char *kind;
    struct gnet_stats_basic basic;
    struct gnet_stats_queue queue;
    /* What the discipline counts itself, in its own layout; NULL: nothing. */
    const struct rtattr *own;
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
    fputs("phase,link,host,packets,bytes,qlen,backlog,drops,"
          "samples,sum_packets,sum_bytes,sum_squares,kind,own\n", queue_rows);
    series_rows = output("queue_series.csv");
    fputs("time_ns,link,packets,bytes\n", series_rows);
}

static void copy(void *to, size_t size, const struct rtattr *from)
{
    size_t have = RTA_PAYLOAD(from);
    memcpy(to, RTA_DATA(from), have < size ? have : size);
}

static void read_stats(struct reading *r, const struct rtattr *stats)
{
    int left = RTA_PAYLOAD(stats);
    for (const struct rtattr *a = RTA_DATA(stats); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == TCA_STATS_BASIC)
            copy(&r->basic, sizeof r->basic, a);
        else if (a->rta_type == TCA_STATS_QUEUE)
            copy(&r->queue, sizeof r->queue, a);
        else if (a->rta_type == TCA_STATS_APP)
            r->own = a;
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
    struct reading r = {.kind = ""};
    if (send(queue->netlink, &ask, sizeof ask, 0) < 0)
        fail("cannot ask for the queue of %s", queue->link);
    ssize_t n = recv(queue->netlink, answer, sizeof answer, MSG_DONTWAIT);
    const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
    if (n < (ssize_t)sizeof ask || head->nlmsg_type != RTM_NEWQDISC)
        fail("the kernel does not know the queue of %s", queue->link);
    int left = (int)(head->nlmsg_len - NLMSG_LENGTH(sizeof(struct tcmsg)));
    const struct rtattr *a = (const struct rtattr *)(answer + NLMSG_LENGTH(sizeof(struct tcmsg)));
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == TCA_KIND)
            r.kind = RTA_DATA(a);
        if (a->rta_type == TCA_STATS2)
            read_stats(&r, a);
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

/* The payload of `a` in hexadecimal digits. */
static void write_bytes(const struct rtattr *a)
{
    const unsigned char *bytes = RTA_DATA(a);
    for (size_t i = 0; i < RTA_PAYLOAD(a); i++)
        fprintf(queue_rows, "%02x", bytes[i]);
}

void write_queues(const char *phase)
{
    for (int i = 0; i < plan.n_queues; i++) {
        const struct queue *q = &plan.queues[i];
        struct reading r = read_queue(q);
        fprintf(queue_rows, "%s,%s,%s,%u,%llu,%u,%u,%u,", phase, q->link, plan.hosts[q->host].name, r.basic.packets,
                (unsigned long long)r.basic.bytes, r.queue.qlen, r.queue.backlog, r.queue.drops);
        fprintf(queue_rows, "%lu,%lu,%lu,%lu,%s,", q->samples, q->sum_packets, q->sum_bytes, q->sum_squares, r.kind);
        if (r.own)
            write_bytes(r.own);
        fputc('\n', queue_rows);
    }
}
