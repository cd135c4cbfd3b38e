/* Web sessions: pages of objects, asked for at the times that the plan gives them.
 *
 * As in the simulator (crates/traffic/src/web.rs), a client asks for an object on a connection of its own; once that is
 * acknowledged, the server sends it on another one. */
#define _GNU_SOURCE
#include "guest.h"

#include <stdlib.h>

struct object {
    int flow;
    unsigned session, page;
    int server, client;
    uint64_t bytes;
    uint64_t pause; /* of the run's first of a session: since the start; of a page: since the one before; else since the request before */
    int first;      /* of its page */
    int size, left; /* of the first: how many the page has, and how many are not done */
    uint64_t number, asked, answered, transferred;
};

/* Times that never came. */
#define NEVER UINT64_MAX

static struct object *objects;
static int n_objects, room;
static uint64_t n_asked;

/* What is to be asked for, the next one first: a heap, by time and then by age. */
static struct request {
    uint64_t due, age;
    int object;
} *requests;
static int n_requests, room_for_requests;
static uint64_t youngest;

static bool before(const struct request *a, const struct request *b)
{
    return a->due != b->due ? a->due < b->due : a->age < b->age;
}

static void *grown(void *array, int n, int *have, size_t size)
{
    if (n < *have)
        return array;
    *have = n ? 2 * n : 1024;
    array = realloc(array, (size_t)*have * size);
    if (!array)
        fail("memory");
    return array;
}

static void schedule(int object, uint64_t due)
{
    requests = grown(requests, n_requests, &room_for_requests, sizeof *requests);
    struct request new = {due, youngest++, object};
    int i = n_requests++;
    for (; i && before(&new, &requests[(i - 1) / 2]); i = (i - 1) / 2)
        requests[i] = requests[(i - 1) / 2];
    requests[i] = new;
}

static int take_request(void)
{
    int object = requests[0].object, i = 0;
    struct request last = requests[--n_requests];
    for (int child; (child = 2 * i + 1) < n_requests; i = child) {
        if (child + 1 < n_requests && before(&requests[child + 1], &requests[child]))
            child++;
        if (!before(&requests[child], &last))
            break;
        requests[i] = requests[child];
    }
    requests[i] = last;
    return object;
}

static bool same_session(int a, int b)
{
    return objects[a].flow == objects[b].flow && objects[a].session == objects[b].session;
}

void add_object(int flow, unsigned session, unsigned page, int server, int client, uint64_t bytes, uint64_t pause)
{
    objects = grown(objects, n_objects, &room, sizeof *objects);
    int i = n_objects++;
    objects[i] = (struct object){flow, session, page, server, client, bytes, pause, .first = i, .asked = NEVER,
                                 .answered = NEVER, .transferred = NEVER};
    if (i && same_session(i - 1, i) && objects[i - 1].page == page)
        objects[i].first = objects[i - 1].first;
    if (!i || !same_session(i - 1, i))
        schedule(i, pause);
    objects[objects[i].first].size++;
    objects[objects[i].first].left++;
}

static void schedule_page_after(int first)
{
    int next = first + objects[first].size;
    if (next < n_objects && same_session(first, next))
        schedule(next, now() + objects[next].pause);
}

static void ask(int i)
{
    struct object *o = &objects[i];
    const struct flow_plan *p = &plan.flows[o->flow];
    o->asked = now();
    o->number = n_asked++;
    if (o->first == i && !p->page_waits)
        schedule_page_after(i);
    if (i + 1 < n_objects && objects[i + 1].first == o->first)
        schedule(i + 1, now() + objects[i + 1].pause);
    transfer(o->flow, 1, &p->pool[1][o->client], &p->pool[0][o->server], p->size, i);
}

uint64_t next_request(void)
{
    return n_requests ? requests[0].due : NEVER;
}

void wake_web(void)
{
    while (next_request() <= now())
        ask(take_request());
}

void transferred(int i, bool request, bool whole)
{
    struct object *o = &objects[i], *first = &objects[o->first];
    const struct flow_plan *p = &plan.flows[o->flow];
    if (request && whole) {
        o->answered = now();
        transfer(o->flow, 0, &p->pool[0][o->server], &p->pool[1][o->client], o->bytes, i);
        return;
    }
    if (whole)
        o->transferred = now();
    if (!--first->left && p->page_waits)
        schedule_page_after(o->first);
}

static void write_time(FILE *rows, uint64_t time)
{
    if (time != NEVER)
        fprintf(rows, "%lu", time);
    fputc(',', rows);
}

void write_objects(void)
{
    FILE *rows = output("objects.csv");
    fputs("flow,session,page,index,server,client,bytes,asked_ns,answered_ns,transferred_ns,number\n", rows);
    for (int i = 0; i < n_objects; i++) {
        const struct object *o = &objects[i];
        if (o->asked == NEVER)
            continue;
        fprintf(rows, "%d,%u,%u,%d,%d,%d,%lu,", o->flow, o->session, o->page, i - o->first, o->server, o->client, o->bytes);
        write_time(rows, o->asked);
        write_time(rows, o->answered);
        write_time(rows, o->transferred);
        fprintf(rows, "%lu\n", o->number);
    }
    fclose(rows);
}
