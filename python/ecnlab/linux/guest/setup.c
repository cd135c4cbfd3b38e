/* From the text of the plan to namespaces, devices, routes and settings. One statement a line, words apart by a space. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 32 };

static int find_host(const char *name)
{
    for (int i = 0; i < plan.n_hosts; i++)
        if (!strcmp(plan.hosts[i].name, name))
            return i;
    errno = 0;
    fail("the plan names no host %s", name);
}

static void copy(char *to, size_t size, const char *from)
{
    errno = 0;
    if ((size_t)snprintf(to, size, "%s", from) >= size)
        fail("%s is too long", from);
}

/* host NAME: a namespace, under /run/netns as ip expects it. */
static void add_host(char **word)
{
    if (plan.n_hosts == MOST_HOSTS)
        fail("more than %d hosts", MOST_HOSTS);
    struct host *host = &plan.hosts[plan.n_hosts];
    copy(host->name, sizeof host->name, word[1]);
    char path[128];
    snprintf(path, sizeof path, "/run/netns/%s", host->name);
    int file = open(path, O_CREAT | O_RDONLY, 0444);
    if (file < 0 || close(file) || unshare(CLONE_NEWNET) || mount("/proc/self/ns/net", path, "none", MS_BIND, NULL))
        fail("cannot make the namespace %s", host->name);
    host->fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (host->fd < 0)
        fail("cannot open the namespace %s", host->name);
    plan.n_hosts++;
}

/* set HOST FILE VALUE...: FILE below /proc/sys. */
static void set(char **word, int n)
{
    char path[128], value[256] = "";
    enter(find_host(word[1]));
    snprintf(path, sizeof path, "/proc/sys/%s", word[2]);
    for (int i = 3; i < n; i++) {
        strncat(value, word[i], sizeof value - strlen(value) - 2);
        strcat(value, i + 1 < n ? " " : "");
    }
    int file = open(path, O_WRONLY);
    if (file < 0 || write(file, value, strlen(value)) < 0)
        fail("cannot set %s = %s", path, value);
    close(file);
}

/* exec HOST PROGRAM ARGUMENTS...: must succeed; what it says on its standard error is in /out/setup. */
static void execute(char **word)
{
    enter(find_host(word[1]));
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        int log = open("/out/setup", O_CREAT | O_WRONLY | O_APPEND, 0644);
        if (log >= 0) {
            dup2(log, 1);
            dup2(log, 2);
        }
        execv(word[2], word + 2);
        _exit(127);
    }
    int status;
    if (waitpid(child, &status, 0) < 0)
        fail("waitpid");
    errno = 0;
    if (status)
        fail("%s failed in %s (status %d)", word[2], word[1], status);
}

/* env NAME VALUE: for the programs that are executed from here on. */
static void set_environment(char **word)
{
    if (setenv(word[1], word[2], 1))
        fail("setenv");
}

/* wait: until the devices of all hosts are there. */
static void wait_for_devices(void)
{
    rendezvous("hosts\n");
}

/* tcp CONGESTION WINDOW MSS FALLBACK */
static void add_tcp(char **word)
{
    if (plan.n_tcps == MOST_TCPS)
        fail("more than %d TCPs", MOST_TCPS);
    struct tcp *tcp = &plan.tcps[plan.n_tcps++];
    copy(tcp->congestion, sizeof tcp->congestion, word[1]);
    tcp->window = atoi(word[2]);
    tcp->mss = atoi(word[3]);
    tcp->falls_back = atoi(word[4]) != 0;
}

/* queue LINK HOST DEVICE HANDLE poll|count */
static void add_queue(char **word)
{
    if (plan.n_queues == MOST_QUEUES)
        fail("more than %d queues", MOST_QUEUES);
    struct queue *queue = &plan.queues[plan.n_queues++];
    copy(queue->link, sizeof queue->link, word[1]);
    queue->host = find_host(word[2]);
    copy(queue->device, sizeof queue->device, word[3]);
    queue->handle = (uint32_t)strtoul(word[4], NULL, 16) << 16;
    queue->poll = !strcmp(word[5], "poll");
}

/* tap LINK end|before|after HOST DEVICE SNAP */
static void add_tap(char **word)
{
    if (plan.n_taps == MOST_TAPS)
        fail("more than %d devices to listen at", MOST_TAPS);
    struct tap *tap = &plan.taps[plan.n_taps++];
    tap->link = atoi(word[1]);
    tap->place = !strcmp(word[2], "end") ? END : !strcmp(word[2], "before") ? BEFORE_QUEUE : AFTER_QUEUE;
    tap->host = find_host(word[3]);
    copy(tap->device, sizeof tap->device, word[4]);
    plan.snap = (uint32_t)atoi(word[5]);
}

/* way HOST NODE LINK: what is for that node goes over that link. */
static void add_way(char **word)
{
    int32_t **ways = &plan.ways[find_host(word[1])];
    int node = atoi(word[2]);
    errno = 0;
    if (node < 0 || node >= MOST_NODES)
        fail("there is no node %d", node);
    if (!*ways && !(*ways = calloc(MOST_NODES, sizeof **ways)))
        fail("memory");
    (*ways)[node] = atoi(word[3]) + 1;
}

/* replay HOST: what /arrivals says comes to the devices of that host, and nothing else is done. */
static void set_replay(char **word)
{
    plan.replays = find_host(word[1]) + 1;
}

/* attach HOST FILE: the queue disciplines that FILE names. */
static void attach(char **word)
{
    attach_queues(find_host(word[1]), word[2]);
}

static uint32_t number(const char *word)
{
    return (uint32_t)strtoul(word, NULL, 10);
}

/* line HOST DEVICE HOST DEVICE LIMIT BURST IN-FLIGHT: a link that changes; numbered in this order. */
static void read_line(char **word)
{
    add_line(find_host(word[1]), word[2], find_host(word[3]), word[4], number(word[5]), number(word[6]), number(word[7]));
}

/* change TIME LINE RATE DELAY LOSS */
static void read_change(char **word)
{
    add_change(strtoull(word[1], NULL, 10), atoi(word[2]), strtoull(word[3], NULL, 10), strtoull(word[4], NULL, 10),
               number(word[5]));
}

static void read_end(struct flow_end *end, char **word)
{
    end->host = find_host(word[0]);
    copy(end->address, sizeof end->address, word[1]);
    end->tcp = atoi(word[2]);
}

/* flow NAME bulk|exchange|web|web-overlapping START SIZE RESPONSE THINK READ EVERY FROM ADDRESS TCP TO ADDRESS TCP */
static void add_flow(char **word)
{
    if (plan.n_flows == MOST_FLOWS)
        fail("more than %d flows", MOST_FLOWS);
    struct flow_plan *flow = &plan.flows[plan.n_flows++];
    copy(flow->name, sizeof flow->name, word[1]);
    flow->kind = !strcmp(word[2], "bulk") ? BULK : !strcmp(word[2], "exchange") ? EXCHANGE : WEB;
    flow->page_waits = !strcmp(word[2], "web");
    flow->start = strtoull(word[3], NULL, 10);
    flow->size = strtoull(word[4], NULL, 10);
    flow->response = strtoull(word[5], NULL, 10);
    flow->think = strtoull(word[6], NULL, 10);
    flow->read_bytes = strtoull(word[7], NULL, 10);
    flow->read_every = strtoull(word[8], NULL, 10);
    read_end(&flow->ends[0], word + 9);
    read_end(&flow->ends[1], word + 12);
}

static int find_flow(const char *number)
{
    int flow = atoi(number);
    errno = 0;
    if (flow < 0 || flow >= plan.n_flows)
        fail("the plan has no flow %s", number);
    return flow;
}

/* pool FLOW SIDE HOST ADDRESS TCP: one more server (0) or client (1) of web traffic. */
static void add_to_pool(char **word)
{
    struct flow_plan *flow = &plan.flows[find_flow(word[1])];
    int side = atoi(word[2]) != 0, n = flow->n_pool[side]++;
    flow->pool[side] = realloc(flow->pool[side], (size_t)(n + 1) * sizeof *flow->pool[side]);
    if (!flow->pool[side])
        fail("memory");
    read_end(&flow->pool[side][n], word + 3);
}

/* object FLOW SESSION PAGE SERVER CLIENT BYTES PAUSE: in the order of sessions, of pages, and in the page. */
static void read_object(char **word)
{
    int flow = find_flow(word[1]), server = atoi(word[4]), client = atoi(word[5]);
    const struct flow_plan *p = &plan.flows[flow];
    errno = 0;
    if (server < 0 || server >= p->n_pool[0] || client < 0 || client >= p->n_pool[1])
        fail("the plan has an object of nobody's");
    add_object(flow, (unsigned)atoi(word[2]), (unsigned)atoi(word[3]), server, client, strtoull(word[6], NULL, 10),
               strtoull(word[7], NULL, 10));
}

/* run DURATION WARMUP SAMPLE POLL */
static void read_run(char **word)
{
    uint64_t *number[] = {&plan.duration, &plan.warmup, &plan.sample, &plan.poll};
    for (int i = 0; i < 4; i++)
        *number[i] = strtoull(word[i + 1], NULL, 10);
}

static void obey(char **word, int n)
{
    const struct {
        const char *name;
        int words;
    } known[] = {{"run", 5}, {"host", 2}, {"tcp", 5}, {"queue", 6}, {"flow", 15}, {"set", 4}, {"exec", 3}, {"wait", 1},
                 {"env", 3}, {"pool", 6}, {"object", 8}, {"tap", 6}, {"way", 4}, {"replay", 2},
                 {"attach", 3}, {"line", 8}, {"change", 6}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(word[0], known[i].name) && n >= known[i].words)
            switch (i) {
            case 0: return read_run(word);
            case 1: return add_host(word);
            case 2: return add_tcp(word);
            case 3: return add_queue(word);
            case 4: return add_flow(word);
            case 5: return set(word, n);
            case 6: return execute(word);
            case 7: return wait_for_devices();
            case 8: return set_environment(word);
            case 9: return add_to_pool(word);
            case 10: return read_object(word);
            case 11: return add_tap(word);
            case 12: return add_way(word);
            case 13: return set_replay(word);
            case 14: return attach(word);
            case 15: return read_line(word);
            case 16: return read_change(word);
            }
    errno = 0;
    fail("the plan says `%s`, which means nothing", word[0]);
}

void set_up(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    if (!file)
        fail("cannot read %s", path);
    while (fgets(line, sizeof line, file)) {
        char *word[WORDS + 1] = {NULL};
        int n = 0;
        for (char *w = strtok(line, " \n"); w && n < WORDS; w = strtok(NULL, " \n"))
            word[n++] = w;
        if (n)
            obey(word, n);
    }
    fclose(file);
}
