/* The program that runs as the only process of the virtual-time kernel: it builds the network, sends the traffic,
 * reads the kernel's counters, and powers off. One process, so that nothing depends on a scheduler.
 *
 * Started as `init wall FD`, it does the same on the machine's own kernel in real time, as the first process of
 * namespaces of its own (../host/container.c); FD is a socket to the process that carries packets between its hosts. */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { NAME = 64, MOST_HOSTS = 4096, MOST_QUEUES = 8192, MOST_FLOWS = 4096, MOST_TCPS = 256,
       MOST_TAPS = 16384 };

/* A network namespace, open. */
struct host {
    char name[NAME];
    int fd;
};

/* A TCP's socket options; what the kernel sets for each namespace or route is set before the traffic starts. */
struct tcp {
    char congestion[16];
    int window; /* greatest receive window, bytes; 0: the kernel's own */
    int mss;    /* as announced; 0: the kernel's own */
    bool falls_back; /* its namespace has tcp_ecn_fallback */
};

/* A queue discipline whose counters are read. */
struct queue {
    char link[NAME];
    int host;
    char device[16];
    uint32_t handle;
    bool poll; /* sampled over time, not only counted */
    int netlink;
    int ifindex;
    uint64_t samples, sum_packets, sum_bytes, sum_squares; /* since the start of the run */
};

/* Where at a link; of the same moment, in this order. */
enum place { END, BEFORE_QUEUE, AFTER_QUEUE };

enum { MOST_NODES = 1 << 16 };

/* A device whose packets are written down. */
struct tap {
    int link; /* as the host numbers them; before a queue the way that the packet takes from here */
    enum place place;
    int host;
    char device[16];
};

enum kind { BULK, EXCHANGE, WEB };

/* What the plan says of a flow: data from ends[0] to ends[1]. */
struct flow_end {
    int host;
    char address[46]; /* of IPv4 or IPv6 */
    int tcp;
};

struct flow_plan {
    char name[NAME];
    enum kind kind;
    struct flow_end ends[2];
    uint64_t start;   /* ns since the start of the run */
    uint64_t size;    /* BULK: bytes, 0 without end. EXCHANGE, WEB: bytes of the request */
    uint64_t response;
    uint64_t think;   /* ns */
    uint64_t read_bytes; /* BULK: most bytes of a read; 0: the receiver reads at once */
    uint64_t read_every; /* ns between reads */
    bool page_waits;  /* WEB: for the last object of the one before */
    struct flow_end *pool[2]; /* WEB: servers, clients */
    int n_pool[2];
};

struct plan {
    uint64_t duration, warmup, sample, poll; /* ns; `sample` 0: no time series */
    struct host hosts[MOST_HOSTS];
    int n_hosts;
    struct tcp tcps[MOST_TCPS];
    int n_tcps;
    struct queue queues[MOST_QUEUES];
    int n_queues;
    struct flow_plan flows[MOST_FLOWS];
    int n_flows;
    struct tap taps[MOST_TAPS];
    int n_taps;
    int replays; /* the host whose devices /arrivals names, and one; 0: none */
    uint32_t snap; /* bytes kept of each packet */
    int32_t *ways[MOST_HOSTS]; /* by the node that a packet is for, one more than the link it takes from here; 0: none asked for */
};

extern struct plan plan;

/* main.c */
extern int poller; /* the epoll set; its data is a `struct end *` */

/* host.c */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void enter(int host);
void stop(void); /* ends the run */
void read_clock(void); /* sets the time that now() returns in virtual time */
uint64_t now(void); /* ns since the start of the run; in real time zero before it */
extern uint64_t origin; /* the start of the run, by CLOCK_MONOTONIC */
uint64_t nanoseconds(struct timespec t);
uint64_t clock_at(clockid_t clock);
struct msghdr;
uint64_t time_of(struct msghdr *message); /* ns by CLOCK_REALTIME, from SO_TIMESTAMPNS */
FILE *output(const char *name);

/* wall.c: nothing of it is of use in virtual time, where `control` is -1. */
extern int control;
void tell(const char *format, uint64_t number);
void rendezvous(const char *what); /* says a line, waits for a byte */
void write_devices(void);

/* setup.c: reads /plan and does what it says. */
void set_up(const char *path);

/* flows.c */
struct end;
void open_listeners(void);
void serve(struct end *end, uint32_t events);
uint64_t next_wake(void);   /* when a flow begins or thinks no more; UINT64_MAX: never */
void wake_flows(void);
/* WEB: `bytes` on a connection of their own from one end to the other, for the object with this number. */
void transfer(int flow, int side, const struct flow_end *own, const struct flow_end *peer, uint64_t bytes, int object);
void write_flows(const char *phase);
void sample_flows(void);

/* web.c */
void add_object(int flow, unsigned session, unsigned page, int server, int client, uint64_t bytes, uint64_t pause);
uint64_t next_request(void);
void wake_web(void);
void transferred(int object, bool request, bool whole);
void write_objects(void);

/* queues.c */
void open_queues(void);
void poll_queues(void);
void sample_queues(void);
void write_queues(const char *phase);

/* attach.c */
void attach_queues(int host, const char *path);

/* changes.c */
/* A link that changes: the queue's device and the wire's; the limit of its FIFO or any, the bucket's bytes, and how many
 * packets are on the wire at most. */
void add_line(int near, const char *queue, int wire, const char *device, uint32_t limit, uint32_t burst,
              uint32_t in_flight);
/* From `at`, ns, the line has this rate in B/s (0: none), delay in ns, and share of lost packets, of 2^32 - 1. In order of
 * time. */
void add_change(uint64_t at, int line, uint64_t rate, uint64_t delay, uint32_t loss);
uint64_t next_change(void); /* UINT64_MAX: never */
void change_links(void);

/* replay.c */
void replay(int host);

/* taps.c */
void open_taps(void);
void read_taps(void);
void close_taps(void);

#endif
