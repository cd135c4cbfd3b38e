/* Packets that are sent at given times over devices of their own, for `ecnlab agree --packets`. Only in virtual time, with
 * the clock in units of 1 ns.
 *
 * A system call that fails takes 1 us there (arch/um/kernel/skas/syscall.c). So packets are sent from a raw IP socket, for
 * which a packet that a queue drops is no error, and nothing is read that is not there. Files are read before and written
 * afterwards, since now and then a file looks at the clock, which takes time, too. */
#define _GNU_SOURCE
#include "guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* The start is a multiple of PART, as are units of codel_time_t, and 18 minutes late: CoDel takes what was less than 16 intervals
 * after the kernel's own start for the end of a series of signals. */
enum { LATER = 1 << 20, MOST_BYTES = 65535, ROOM = 64 << 20, PART = 1 << 20, /* ns */
       HEADER = sizeof(struct iphdr), MOST_DEVICES = 1 << 16, MOST_SOURCES = 1 << 16 };

/* A line of /arrivals. */
struct arrival {
    uint64_t at;      /* ns since the start */
    unsigned device;  /* l0, l1, ... */
    unsigned number;  /* of the packet at its device */
    unsigned length;  /* bytes, from IP's header on */
    unsigned tos;
    uint32_t priority; /* what a discipline takes for the class */
    uint32_t busy;     /* ns for which the packet keeps the device busy (driver/line.c) */
    unsigned flow;     /* a flow has a source address of its own */
};

/* A packet that has left. */
struct departure {
    uint64_t at;
    unsigned device, number, tos;
};

static int sender, listener, timer;
static uint64_t start; /* by CLOCK_MONOTONIC */
static uint64_t real;  /* the start by CLOCK_REALTIME */
static int devices[MOST_DEVICES]; /* by interface: its number among l0, l1, ..., and one */
static struct arrival *arrivals;
static size_t n_arrivals;
static struct departure *departures; /* room for as many as have arrived */
static size_t n_departures;

static void read_arrivals(void)
{
    FILE *file = fopen("/arrivals", "r");
    if (!file || fscanf(file, "%zu", &n_arrivals) != 1 || !(arrivals = calloc(n_arrivals + 1, sizeof *arrivals)) ||
        !(departures = calloc(n_arrivals + 1, sizeof *departures)))
        fail("cannot read /arrivals");
    for (size_t i = 0; i < n_arrivals; i++) {
        struct arrival *a = &arrivals[i];
        if (fscanf(file, "%" SCNu64 " %u %u %u %u %" SCNu32 " %" SCNu32 " %u", &a->at, &a->device, &a->number, &a->length,
                   &a->tos, &a->priority, &a->busy, &a->flow) != 8 || a->flow >= MOST_SOURCES ||
            a->length < HEADER + sizeof a->number || a->length > MOST_BYTES)
            fail("line %zu of /arrivals is no packet", i + 2);
    }
    fclose(file);
}

static void set_option(int socket, int level, int name, int value)
{
    if (setsockopt(socket, level, name, &value, sizeof value))
        fail("socket option %d", name);
}

static void open_sockets(void)
{
    sender = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    listener = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (sender < 0 || listener < 0 || timer < 0)
        fail("cannot open the sockets of the replay");
    set_option(sender, SOL_SOCKET, SO_SNDBUFFORCE, ROOM);
    set_option(listener, SOL_SOCKET, SO_RCVBUFFORCE, ROOM);
    set_option(listener, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    struct if_nameindex *all = if_nameindex();
    for (struct if_nameindex *i = all; i && i->if_index; i++)
        if (i->if_name[0] == 'l' && i->if_name[1] >= '0' && i->if_name[1] <= '9' && i->if_index < MOST_DEVICES)
            devices[i->if_index] = atoi(i->if_name + 1) + 1;
    if_freenameindex(all);
}

/* At the packet's device there is nobody but its destination. */
static void send_packet(const struct arrival *a)
{
    static unsigned char packet[MOST_BYTES];
    struct iphdr header = {.version = 4, .ihl = HEADER / 4, .tos = (uint8_t)a->tos, .tot_len = htons((uint16_t)a->length),
                           .id = htons(1), .ttl = 64, .protocol = 253, .saddr = htonl(0x0a020000 + a->flow),
                           .daddr = htonl(0x0a010000 + a->device)};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = header.daddr};
    memcpy(packet, &header, HEADER);
    memcpy(packet + HEADER, &a->number, sizeof a->number);
    set_option(sender, SOL_SOCKET, SO_PRIORITY, (int)a->priority);
    set_option(sender, SOL_SOCKET, SO_MARK, (int)a->busy);
    if (sendto(sender, packet, a->length, 0, (struct sockaddr *)&to, sizeof to) != (ssize_t)a->length)
        fail("cannot send packet %u of device l%u", a->number, a->device);
}

/* Writes what has left the queues since the last time. */
static void read_departures(void)
{
    for (int next = 0; ioctl(listener, FIONREAD, &next) == 0 && next > 0;) {
        unsigned char packet[HEADER + sizeof(unsigned)];
        char control[128];
        struct sockaddr_ll from = {0};
        struct iovec part = {packet, sizeof packet};
        struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1,
                                 .msg_control = control, .msg_controllen = sizeof control};
        ssize_t length = recvmsg(listener, &message, MSG_DONTWAIT | MSG_TRUNC);
        if (length < 0)
            fail("cannot read what has left");
        int device = from.sll_ifindex < MOST_DEVICES ? devices[from.sll_ifindex] : 0;
        if (!device || length < (ssize_t)sizeof packet)
            continue;
        errno = 0;
        if (n_departures == n_arrivals)
            fail("more packets have left than have come");
        struct departure *d = &departures[n_departures++];
        *d = (struct departure){.at = time_of(&message) - real, .device = (unsigned)device - 1, .tos = packet[1]};
        memcpy(&d->number, packet + HEADER, sizeof d->number);
    }
}

static void write_departures(void)
{
    struct tpacket_stats stats = {0};
    socklen_t size = sizeof stats;
    if (getsockopt(listener, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
        fail("cannot count what has left");
    errno = 0;
    if (stats.tp_drops)
        fail("%u packets that left were not seen", stats.tp_drops);
    FILE *file = output("departures");
    fputs("device,number,time_ns,tos\n", file);
    for (size_t i = 0; i < n_departures; i++) {
        const struct departure *d = &departures[i];
        fprintf(file, "%u,%u,%" PRIu64 ",%u\n", d->device, d->number, d->at, d->tos);
    }
    if (fclose(file))
        fail("cannot write what has left");
}

/* A timerfd: it has no slack, unlike nanosleep, which is 1 ns late at best. */
static void sleep_until(uint64_t at)
{
    struct itimerspec t = {.it_value = {(time_t)((start + at) / 1000000000u), (long)((start + at) % 1000000000u)}};
    uint64_t times;
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &t, NULL) || read(timer, &times, sizeof times) != sizeof times)
        fail("cannot wait");
}

/* Each look at a clock takes as long, so the one in the middle is at the mean of the others. */
static void agree_on_start(void)
{
    start = (clock_at(CLOCK_MONOTONIC) / PART + LATER) * PART;
    uint64_t before = clock_at(CLOCK_REALTIME), then = clock_at(CLOCK_MONOTONIC), after = clock_at(CLOCK_REALTIME);
    real = before + (after - before) / 2 - then + start;
}

void replay(int host)
{
    read_arrivals();
    enter(host);
    open_sockets();
    agree_on_start();
    for (size_t i = 0; i < n_arrivals; i++) {
        if (!i || arrivals[i].at != arrivals[i - 1].at) {
            sleep_until(arrivals[i].at);
            read_departures();
        }
        send_packet(&arrivals[i]);
    }
    for (uint64_t at = n_arrivals ? arrivals[n_arrivals - 1].at : 0; at < plan.duration; read_departures())
        sleep_until(at += plan.poll);
    write_departures();
}
