/* Queue disciplines that tc does not know: the kernel is asked for them over rtnetlink. */
#define _GNU_SOURCE
#include "guest.h"
#include "netlink.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct rtattr *end_of(struct request *r)
{
    return (struct rtattr *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));
}

struct rtattr *append(struct request *r, int type, const void *data, size_t size)
{
    struct rtattr *a = end_of(r);
    errno = 0;
    if ((char *)a + RTA_SPACE(size) > (char *)(r + 1))
        fail("a queue discipline has too many settings");
    a->rta_type = (unsigned short)type;
    a->rta_len = (unsigned short)RTA_LENGTH(size);
    if (size)
        memcpy(RTA_DATA(a), data, size);
    r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + (uint32_t)RTA_SPACE(size);
    return a;
}

/* MAJOR:MINOR, both hexadecimal. */
static uint32_t handle(const char *text)
{
    char *rest;
    uint32_t major = (uint32_t)strtoul(text, &rest, 16);
    return major << 16 | (*rest == ':' ? (uint32_t)strtoul(rest + 1, NULL, 16) : 0);
}

/* TYPE:BYTES:VALUE of a setting, in the order of bytes of this machine. */
static void append_setting(struct request *r, const char *text)
{
    int type, size;
    unsigned value;
    errno = 0;
    if (sscanf(text, "%d:%d:%u", &type, &size, &value) != 3 || (size != 1 && size != 4))
        fail("`%s` is no setting of a queue discipline", text);
    uint8_t byte = (uint8_t)value;
    append(r, type, size == 1 ? (void *)&byte : (void *)&value, (size_t)size);
}

void ask(int netlink, const struct request *r, const char *kind)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[1024];
    } answer;
    if (send(netlink, r, r->head.nlmsg_len, 0) < 0)
        fail("cannot ask for the queue discipline %s", kind);
    ssize_t n = recv(netlink, &answer, sizeof answer, 0);
    errno = 0;
    if (n < (ssize_t)(sizeof answer.head + sizeof answer.error) || answer.head.nlmsg_type != NLMSG_ERROR)
        fail("the kernel did not answer for the queue discipline %s", kind);
    errno = -answer.error.error;
    if (errno)
        fail("the kernel refuses the queue discipline %s", kind);
}

struct request request(int ifindex, uint32_t parent, uint32_t own, int flags)
{
    return (struct request){.head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct tcmsg)), .nlmsg_type = RTM_NEWQDISC,
                                     .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags)},
                            .tc = {.tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex, .tcm_parent = parent,
                                   .tcm_handle = own}};
}

void close_options(const struct request *r, struct rtattr *options)
{
    options->rta_len = (unsigned short)((const char *)r + NLMSG_ALIGN(r->head.nlmsg_len) - (char *)options);
}

/* DEVICE PARENT HANDLE KIND SETTING... */
static void attach(int netlink, char *line)
{
    const char *device = strtok(line, " \n"), *parent = strtok(NULL, " \n");
    const char *own = strtok(NULL, " \n"), *kind = strtok(NULL, " \n");
    errno = 0;
    if (!kind)
        fail("a line for a queue discipline has less than four words");
    struct request r = request((int)if_nametoindex(device), handle(parent), handle(own), NLM_F_CREATE | NLM_F_EXCL);
    if (!r.tc.tcm_ifindex)
        fail("there is no device %s", device);
    append(&r, TCA_KIND, kind, strlen(kind) + 1);
    struct rtattr *options = append(&r, TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
    for (const char *text; (text = strtok(NULL, " \n"));)
        append_setting(&r, text);
    close_options(&r, options);
    ask(netlink, &r, kind);
}

void attach_queues(int host, const char *path)
{
    char line[1024];
    enter(host);
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    FILE *file = fopen(path, "r");
    if (netlink < 0 || !file)
        fail("cannot obey %s", path);
    while (fgets(line, sizeof line, file))
        attach(netlink, line);
    fclose(file);
    close(netlink);
}
