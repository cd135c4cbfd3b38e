/* Bulk transfers and exchanges of a request and a response, and what the kernel counts of their connections. */
#define _GNU_SOURCE
#include "guest.h"
#include "tcpinfo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of the listener of a flow; of web traffic, which listens at both ends, that of the clients. */
enum { FIRST_PORT = 10000, FIRST_CLIENT_PORT = 20000, CHUNK = 1 << 16, NO_OBJECT = -1 };
#define ENDLESS UINT64_MAX

/* One end of a connection, or a listener. */
struct end {
    struct end *next; /* of the flow's */
    int fd, flow, side;
    int object; /* that it asks for or sends */
    bool listens, opens, connected, finished;
    bool asks;             /* its SYN asks for ECN, the next ones would not */
    uint32_t resent_syns;  /* by the time at which it was connected */
    uint64_t to_send, received, expects;
    uint64_t opened, established;
};

/* Counters of all connections of a flow at one side. */
struct sums {
    uint64_t segs_out, data_segs_out, bytes_sent, retransmits, timeouts, delivered_ce, received_ce, delivered;
    uint64_t connections, connections_established, ecn_connections, ecn_fallbacks;
    uint32_t min_rtt;
};

static struct flow_state {
    struct end *ends;
    struct sums ended[2];
    uint64_t wake, next_read, finished, exchanges;
} flows[MOST_FLOWS];

static FILE *flow_rows, *series_rows, *transaction_rows;
static char zeros[CHUNK];

static int opener(int flow)
{
    return plan.flows[flow].kind == BULK ? 0 : 1;
}

static bool tcp_info(const struct end *end, struct tcpinfo *info)
{
    socklen_t size = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(end->fd, IPPROTO_TCP, TCP_INFO, info, &size) == 0;
}

/* An address of either IP version; the port is at the same place in both. */
union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static union address address(const struct flow_end *end, int port)
{
    union address a = {.v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)}};
    if (inet_pton(AF_INET6, end->address, &a.v6.sin6_addr) == 1)
        return a;
    a.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, end->address, &a.v4.sin_addr) != 1)
        fail("%s is no address", end->address);
    return a;
}

/* A socket at an end of a flow, with the TCP that the plan gives it. */
static int open_socket(const struct flow_end *at, int port)
{
    const struct tcp *tcp = &plan.tcps[at->tcp];
    union address own = address(at, port);
    int one = 1;
    enter(at->host);
    int fd = socket(own.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        fail("socket");
    if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, tcp->congestion, (socklen_t)strlen(tcp->congestion)))
        fail("congestion control %s", tcp->congestion);
    if (tcp->window && setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &tcp->window, sizeof tcp->window))
        fail("receive window of %d", tcp->window);
    if (tcp->mss && setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &tcp->mss, sizeof tcp->mss))
        fail("segments of %d", tcp->mss);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) || bind(fd, &own.any, sizeof own))
        fail("bind %s", at->address);
    return fd;
}

static struct end *add_end(int flow, int side, int fd)
{
    struct end *end = calloc(1, sizeof *end);
    if (!end)
        fail("memory");
    *end = (struct end){flows[flow].ends, fd, flow, side, .object = NO_OBJECT, .opened = now()};
    flows[flow].ends = end;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = end};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event))
        fail("epoll_ctl");
    return end;
}

static int port_of_listener(int flow, int side)
{
    return (plan.flows[flow].kind == WEB && side == 1 ? FIRST_CLIENT_PORT : FIRST_PORT) + flow;
}

static void open_listener(int flow, int side, const struct flow_end *at)
{
    int fd = open_socket(at, port_of_listener(flow, side));
    if (listen(fd, 1024))
        fail("listen");
    add_end(flow, side, fd)->listens = true;
}

void open_listeners(void)
{
    for (int i = 0; i < plan.n_flows; i++) {
        const struct flow_plan *p = &plan.flows[i];
        if (p->kind != WEB)
            open_listener(i, 1 - opener(i), &p->ends[1 - opener(i)]);
        for (int side = 0; side < 2; side++)
            for (int j = 0; j < p->n_pool[side]; j++)
                open_listener(i, side, &p->pool[side][j]);
        flows[i].wake = p->kind == WEB ? UINT64_MAX : p->start;
        flows[i].next_read = p->read_bytes ? p->start + p->read_every : UINT64_MAX;
        flows[i].finished = ENDLESS;
    }
    flow_rows = output("flows.csv");
    fputs("phase,flow,delivered,exchanges,finished_ns,connections,connections_established,ecn_connections,ecn_fallbacks,segs_out,data_segs_out,"
          "bytes_sent,retransmits,timeouts,delivered_ce,min_rtt_us,received_ce\n", flow_rows);
    series_rows = output("flow_series.csv");
    fputs("time_ns,flow,cwnd_bytes,ssthresh_bytes,flight_bytes,srtt_us,rto_us,delivered\n", series_rows);
    transaction_rows = output("transactions.csv");
    fputs("flow,index,start_ns,established_ns,end_ns,retransmits,timeouts\n", transaction_rows);
}

/* Before the SYN-ACK the kernel only asks for it. */
static bool has_ecn(const struct end *end, const struct tcpinfo *info)
{
    return end->connected && info->options & OPTION_ECN;
}

/* With tcp_ecn_fallback a SYN that is sent again asks for no ECN (net/ipv4/tcp_output.c, tcp_ecn_clear_syn). The answer
 * to the first may still agree to it. */
static bool fell_back(const struct end *end, const struct tcpinfo *info)
{
    uint32_t resent = end->connected ? end->resent_syns : info->total_retrans;
    return end->asks && resent && !has_ecn(end, info);
}

static void add_sums(struct sums *sums, const struct end *end)
{
    struct tcpinfo info;
    if (end->listens || !tcp_info(end, &info))
        return;
    sums->segs_out += info.segs_out;
    sums->data_segs_out += info.data_segs_out;
    sums->bytes_sent += info.bytes_sent;
    sums->retransmits += info.total_retrans;
    sums->timeouts += info.total_rto;
    sums->delivered_ce += info.delivered_ce;
    sums->received_ce += info.received_ce;
    sums->delivered += end->received;
    sums->connections += end->opens;
    sums->connections_established += end->opens && end->connected;
    /* Of the end that asked: the other may have agreed in an answer that did not arrive. */
    sums->ecn_connections += end->opens && has_ecn(end, &info);
    sums->ecn_fallbacks += fell_back(end, &info);
    if (info.min_rtt != UINT32_MAX && (!sums->min_rtt || info.min_rtt < sums->min_rtt))
        sums->min_rtt = info.min_rtt;
}

static void close_end(struct end *end)
{
    struct end **link = &flows[end->flow].ends;
    add_sums(&flows[end->flow].ended[end->side], end);
    while (*link != end)
        link = &(*link)->next;
    *link = end->next;
    close(end->fd);
    free(end);
}

static struct end *open_connection(int flow, int side, const struct flow_end *own, const struct flow_end *at)
{
    union address peer = address(at, port_of_listener(flow, 1 - side));
    struct end *end = add_end(flow, side, open_socket(own, 0));
    if (connect(end->fd, &peer.any, sizeof peer) && errno != EINPROGRESS)
        fail("flow %s cannot connect", plan.flows[flow].name);
    struct tcpinfo info;
    end->opens = true;
    end->asks = plan.tcps[own->tcp].falls_back && tcp_info(end, &info) && info.options & OPTION_ECN;
    return end;
}

static void start_flow(int flow)
{
    const struct flow_plan *p = &plan.flows[flow];
    int side = opener(flow);
    struct end *end = open_connection(flow, side, &p->ends[side], &p->ends[1 - side]);
    end->to_send = p->size ? p->size : ENDLESS;
    end->expects = p->response;
}

void transfer(int flow, int side, const struct flow_end *own, const struct flow_end *peer, uint64_t bytes, int object)
{
    struct end *end = open_connection(flow, side, own, peer);
    /* An event for each write that is acknowledged. */
    int acks = SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY;
    if (setsockopt(end->fd, SOL_SOCKET, SO_TIMESTAMPING, &acks, sizeof acks))
        fail("SO_TIMESTAMPING");
    end->to_send = bytes;
    end->object = object;
}

static void accept_all(const struct end *listener)
{
    int fd;
    while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct end *end = add_end(listener->flow, listener->side, fd);
        end->connected = true;
        end->expects = plan.flows[listener->flow].kind == WEB ? 0 : plan.flows[listener->flow].size;
        serve(end, EPOLLIN);
    }
}

static uint16_t port_of(int fd, int (*name)(int, struct sockaddr *restrict, socklen_t *restrict))
{
    union address a = {0};
    socklen_t size = sizeof a;
    name(fd, &a.any, &size);
    return a.v6.sin6_port;
}

/* The other end of a connection of the flow; NULL if it is gone. */
static const struct end *peer_of(const struct end *end)
{
    uint16_t port = port_of(end->fd, getsockname);
    for (const struct end *e = flows[end->flow].ends; e; e = e->next)
        if (e->side != end->side && !e->listens && port_of(e->fd, getpeername) == port)
            return e;
    return NULL;
}

static void write_transaction(const struct end *end)
{
    const struct end *peer = peer_of(end);
    struct tcpinfo own, other = {0};
    tcp_info(end, &own);
    if (peer)
        tcp_info(peer, &other);
    fprintf(transaction_rows, "%d,%lu,%lu,%lu,%lu,%u,%u\n", end->flow, flows[end->flow].exchanges, end->opened,
            end->established, now(), own.total_retrans + other.total_retrans, own.total_rto + other.total_rto);
}

/* Everything that was to arrive at this end has arrived. */
static void complete(struct end *end)
{
    struct flow_state *flow = &flows[end->flow];
    const struct flow_plan *p = &plan.flows[end->flow];
    end->finished = true;
    if (p->kind == BULK) {
        flow->exchanges++;
        flow->finished = now();
    } else if (end->side == opener(end->flow)) {
        write_transaction(end);
        flow->exchanges++;
        flow->finished = now();
        flow->wake = now() + p->think;
        close_end(end);
    } else {
        end->to_send = p->response;
        serve(end, EPOLLOUT);
    }
}

static void send_all(struct end *end)
{
    while (end->to_send) {
        size_t most = end->to_send < CHUNK ? (size_t)end->to_send : CHUNK;
        ssize_t n = send(end->fd, zeros, most, 0);
        if (n < 0)
            return;
        if (end->to_send != ENDLESS)
            end->to_send -= (uint64_t)n;
    }
    if ((plan.flows[end->flow].kind == BULK && end->side == 0) || end->object != NO_OBJECT)
        shutdown(end->fd, SHUT_WR);
}

static void finish_transfer(struct end *end, bool whole)
{
    if (end->object == NO_OBJECT || end->finished)
        return;
    end->finished = true;
    if (whole) {
        flows[end->flow].exchanges++;
        flows[end->flow].finished = now();
    }
    transferred(end->object, end->side == 1, whole);
}

/* A write has been acknowledged. The FIN counts as a byte that may not be. */
static void note_acknowledged(struct end *end)
{
    char control[256];
    struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};
    int unacknowledged = 0;
    recvmsg(end->fd, &message, MSG_ERRQUEUE);
    if (!end->to_send && !ioctl(end->fd, SIOCOUTQ, &unacknowledged) && unacknowledged <= 1)
        finish_transfer(end, true);
}

/* The other end has closed, as it does once it has everything; or, if not `well`, the connection is lost. */
static void end_transfer(struct end *end, bool well)
{
    finish_transfer(end, well && !end->to_send);
    close_end(end);
}

/* Reads all there is, or what a read at fixed times may; false if the end is gone or has done its part. */
static bool receive(struct end *end)
{
    /* MSG_TRUNC: TCP throws the data away without copying it. A short count says that nothing is left but, maybe, the
     * end, for which only web traffic waits. */
    uint64_t bytes = plan.flows[end->flow].read_bytes;
    size_t most = bytes && bytes < 1 << 30 ? (size_t)bytes : 1 << 30;
    ssize_t n;
    while ((n = recv(end->fd, NULL, most, MSG_TRUNC)) > 0) {
        end->received += (uint64_t)n;
        if (plan.flows[end->flow].kind != WEB)
            break;
    }
    if (end->expects && !end->finished && end->received >= end->expects) {
        complete(end);
        return false;
    }
    if (n > 0 || (n < 0 && errno == EAGAIN))
        return true;
    if (plan.flows[end->flow].kind == WEB)
        end_transfer(end, n == 0);
    /* A bulk transfer's ends stay open, so that their counters can be read at any time. */
    else if (plan.flows[end->flow].kind == EXCHANGE) {
        if (end->side == opener(end->flow))
            flows[end->flow].wake = now() + plan.flows[end->flow].think;
        close_end(end);
    }
    return false;
}

/* Whether this end reads at fixed times only. */
static bool reads_late(const struct end *end)
{
    return plan.flows[end->flow].read_bytes && end->side == 1;
}

/* The receivers of a flow read; the times between reads count from the start of the flow. */
static void read_at_fixed_times(int flow)
{
    flows[flow].next_read += plan.flows[flow].read_every;
    for (struct end *e = flows[flow].ends, *next; e; e = next) {
        next = e->next;
        if (!e->listens && reads_late(e))
            receive(e);
    }
}

static void connected(struct end *end)
{
    struct tcpinfo info;
    end->connected = true;
    end->established = now();
    /* Nothing but SYNs has been sent yet. */
    end->resent_syns = tcp_info(end, &info) ? info.total_retrans : 0;
}

void serve(struct end *end, uint32_t events)
{
    if (end->listens)
        return accept_all(end);
    if (!end->connected && events & EPOLLOUT && !(events & EPOLLERR))
        connected(end);
    if (end->connected && events & EPOLLERR && end->object != NO_OBJECT)
        note_acknowledged(end);
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP) && !reads_late(end) && !receive(end))
        return;
    if (end->connected && end->to_send)
        send_all(end);
}

uint64_t next_wake(void)
{
    uint64_t first = next_request();
    for (int i = 0; i < plan.n_flows; i++) {
        uint64_t due = flows[i].wake < flows[i].next_read ? flows[i].wake : flows[i].next_read;
        if (due < first)
            first = due;
    }
    return first;
}

void wake_flows(void)
{
    uint64_t t = now();
    wake_web();
    for (int i = 0; i < plan.n_flows; i++)
        if (flows[i].wake <= t) {
            flows[i].wake = UINT64_MAX;
            start_flow(i);
        }
    for (int i = 0; i < plan.n_flows; i++)
        if (flows[i].next_read <= t)
            read_at_fixed_times(i);
}

static struct sums total(int flow, int side)
{
    struct sums sums = flows[flow].ended[side];
    for (const struct end *e = flows[flow].ends; e; e = e->next)
        if (e->side == side)
            add_sums(&sums, e);
    return sums;
}

void write_flows(const char *phase)
{
    for (int i = 0; i < plan.n_flows; i++) {
        struct sums from = total(i, 0), to = total(i, 1);
        fprintf(flow_rows, "%s,%d,%lu,%lu,", phase, i, to.delivered, flows[i].exchanges);
        if (flows[i].finished != ENDLESS)
            fprintf(flow_rows, "%lu", flows[i].finished);
        fprintf(flow_rows, ",%lu,%lu,%lu,%lu", from.connections + to.connections,
                from.connections_established + to.connections_established,
                from.ecn_connections + to.ecn_connections, from.ecn_fallbacks + to.ecn_fallbacks);
        fprintf(flow_rows, ",%lu,%lu,%lu,%lu,%lu,%lu,", from.segs_out, from.data_segs_out, from.bytes_sent,
                from.retransmits, from.timeouts, from.delivered_ce);
        if (from.min_rtt)
            fprintf(flow_rows, "%u", from.min_rtt);
        fprintf(flow_rows, ",%lu\n", to.received_ce);
    }
}

/* The youngest connection's data sender; NULL if the flow has none. */
static const struct end *sender(int flow)
{
    for (const struct end *e = flows[flow].ends; e; e = e->next)
        if (e->side == 0 && !e->listens)
            return e;
    return NULL;
}

void sample_flows(void)
{
    for (int i = 0; i < plan.n_flows; i++) {
        const struct end *end = sender(i);
        struct tcpinfo t;
        if (!end || !tcp_info(end, &t))
            continue;
        fprintf(series_rows, "%lu,%d,%lu,", now(), i, (uint64_t)t.snd_cwnd * t.snd_mss);
        if (t.snd_ssthresh < NO_SSTHRESH)
            fprintf(series_rows, "%lu", (uint64_t)t.snd_ssthresh * t.snd_mss);
        fprintf(series_rows, ",%lu,", (uint64_t)t.unacked * t.snd_mss);
        if (t.rtt)
            fprintf(series_rows, "%u", t.rtt);
        fprintf(series_rows, ",%u,%lu\n", t.rto, total(i, 1).delivered);
    }
}
