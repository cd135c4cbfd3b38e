/* Packets seen at devices, for the host to make capture files of. Only in virtual time.
 *
 * There a look at the clock takes 256 ns (arch/um/kernel/time.c, timer_read), a system call that fails 1 us
 * (arch/um/kernel/skas/syscall.c), and nothing else any time. So nobody is woken for a packet, which has its time from the
 * kernel: it is read when the process is awake to look at queues, and no more is asked for than there is. And what was read
 * waits for the end in memory, since now and then a file looks at the clock, too. A run with captures is the run without
 * them. */
#define _GNU_SOURCE
#include "guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    /* Bytes that wait at a device between two looks, the kernel's own for each packet among them: 20 ms of 10 Gbit/s. */
    ROOM = 64 << 20,
    CHUNK = 1 << 20,
    MOST_CHUNKS = 320 /* of the guest's 512 MB */
};

/* What stands before each packet's bytes in /out/packets (crates/live/src/guest.rs). Before all stands the time, by the same
 * clock, at which the run began. */
struct record {
    uint64_t time; /* CLOCK_REALTIME, ns */
    uint32_t link;
    uint32_t length; /* of the packet */
    uint32_t kept;   /* bytes that follow */
    uint32_t place;
};

/* A packet that was read, and where its bytes are. */
struct seen {
    struct record record;
    size_t number, bytes;
};

static int sockets[MOST_TAPS];
static char *chunks[MOST_CHUNKS];
static size_t n_log; /* bytes in the chunks */

static struct seen *seen;
static char *kept;
static size_t n_seen, room_seen, n_kept, room_kept;

static void grow(void **array, size_t *room, size_t want, size_t size)
{
    if (want <= *room)
        return;
    *room = 2 * want;
    *array = realloc(*array, *room * size);
    if (!*array)
        fail("memory");
}

/* The link of a packet, by the node in its destination, 10.NODE.NODE.HOST or 2001:db8:0:NODE::HOST; -1 if nobody asks for it. */
static int link_of(const struct tap *tap, const unsigned char *packet, ssize_t length)
{
    if (tap->place != BEFORE_QUEUE)
        return tap->link;
    bool v6 = length > 0 && packet[0] >> 4 == 6;
    const unsigned char *node = packet + (v6 ? 30 : 17);
    return length < (v6 ? 40 : 20) ? -1 : plan.ways[tap->host][node[0] << 8 | node[1]] - 1;
}

static void read_tap(int i)
{
    for (int next = 0; ioctl(sockets[i], FIONREAD, &next) == 0 && next > 0;) {
        grow((void **)&kept, &room_kept, n_kept + plan.snap, 1);
        grow((void **)&seen, &room_seen, n_seen + 1, sizeof *seen);
        char control[128];
        struct iovec part = {kept + n_kept, plan.snap};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                                 .msg_controllen = sizeof control};
        ssize_t length = recvmsg(sockets[i], &message, MSG_DONTWAIT | MSG_TRUNC);
        if (length < 0)
            fail("cannot read what was captured at %s", plan.taps[i].device);
        int link = link_of(&plan.taps[i], (const unsigned char *)part.iov_base, length);
        if (link < 0)
            continue;
        uint32_t n = (uint32_t)length < plan.snap ? (uint32_t)length : plan.snap;
        struct record record = {time_of(&message), (uint32_t)link, (uint32_t)length, n,
                                plan.taps[i].place};
        seen[n_seen] = (struct seen){record, n_seen, n_kept};
        n_seen++;
        n_kept += n;
    }
}

/* In the order of time; at the same time, in the order of a packet's way through a node. */
static int compare(const void *left, const void *right)
{
    const struct seen *a = left, *b = right;
    if (a->record.time != b->record.time)
        return a->record.time < b->record.time ? -1 : 1;
    if (a->record.place != b->record.place)
        return a->record.place < b->record.place ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static void append(const char *bytes, size_t n)
{
    while (n) {
        size_t chunk = n_log / CHUNK, at = n_log % CHUNK, part = n < CHUNK - at ? n : CHUNK - at;
        errno = 0;
        if (chunk == MOST_CHUNKS)
            fail("more than %d MB of captured packets: capture fewer places or a shorter run, or set a smaller `snap`",
                 MOST_CHUNKS);
        if (!chunks[chunk] && !(chunks[chunk] = malloc(CHUNK)))
            fail("memory");
        memcpy(chunks[chunk] + at, bytes, part);
        n_log += part;
        bytes += part;
        n -= part;
    }
}

static void open_tap(int i)
{
    const struct tap *tap = &plan.taps[i];
    int on = 1, room = ROOM;
    enter(tap->host);
    /* Without the Ethernet header: the scenario's packets begin with IP's. */
    int s = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_ll where = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
                                .sll_ifindex = (int)if_nametoindex(tap->device)};
    if (s < 0 || setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) ||
        setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) || bind(s, (struct sockaddr *)&where, sizeof where))
        fail("cannot listen at %s of %s", tap->device, plan.hosts[tap->host].name);
    /* A device between a node and its host has packets both ways. */
    if (tap->place != AFTER_QUEUE && setsockopt(s, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on))
        fail("PACKET_IGNORE_OUTGOING");
    sockets[i] = s;
}

void open_taps(void)
{
    for (int i = 0; i < plan.n_taps; i++)
        open_tap(i);
}

void read_taps(void)
{
    for (int i = 0; i < plan.n_taps; i++)
        read_tap(i);
    qsort(seen, n_seen, sizeof *seen, compare);
    for (size_t i = 0; i < n_seen; i++) {
        append((const char *)&seen[i].record, sizeof seen[i].record);
        append(kept + seen[i].bytes, seen[i].record.kept);
    }
    n_seen = n_kept = 0;
}

/* Each look at a clock takes as long, so the one in the middle is at the mean of the others. */
static uint64_t start_by_real_time(void)
{
    uint64_t before = clock_at(CLOCK_REALTIME), run = clock_at(CLOCK_MONOTONIC) - origin, after = clock_at(CLOCK_REALTIME);
    return before + (after - before) / 2 - run;
}

static void write_log(void)
{
    uint64_t start = start_by_real_time();
    FILE *file = output("packets");
    bool whole = fwrite(&start, sizeof start, 1, file) == 1;
    for (size_t at = 0; at < n_log && whole; at += CHUNK) {
        size_t part = n_log - at < CHUNK ? n_log - at : CHUNK;
        whole = fwrite(chunks[at / CHUNK], 1, part, file) == part;
    }
    if (fclose(file) || !whole)
        fail("cannot write what was captured");
}

void close_taps(void)
{
    read_taps();
    for (int i = 0; i < plan.n_taps; i++) {
        struct tpacket_stats stats = {0};
        socklen_t size = sizeof stats;
        if (getsockopt(sockets[i], SOL_PACKET, PACKET_STATISTICS, &stats, &size))
            fail("cannot count what was captured");
        errno = 0;
        if (stats.tp_drops)
            fail("%u packets at %s were not captured", stats.tp_drops, plan.taps[i].device);
    }
    if (plan.n_taps)
        write_log();
}
