/* Messages to the kernel about queue disciplines, over rtnetlink (attach.c). */
#ifndef NETLINK_H
#define NETLINK_H

#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

struct request {
    struct nlmsghdr head;
    struct tcmsg tc;
    char attributes[1024];
};

/* A new message about the discipline `own` below `parent`; without NLM_F_CREATE in `flags` it changes the one that exists. */
struct request request(int ifindex, uint32_t parent, uint32_t own, int flags);

/* Appends an attribute. */
struct rtattr *append(struct request *r, int type, const void *data, size_t size);

/* The attribute `options` has everything that was appended after it. */
void close_options(const struct request *r, struct rtattr *options);

/* Sends the message about a discipline of that kind; ends the run if the kernel refuses it. */
void ask(int netlink, const struct request *r, const char *kind);

#endif
