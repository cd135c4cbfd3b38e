/* In real time: word with the process that has started us, and what devices have thrown away. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int control = -1;

void tell(const char *format, uint64_t number)
{
    char line[64];
    int n = snprintf(line, sizeof line, format, number);
    if (send(control, line, (size_t)n, MSG_NOSIGNAL) != n)
        fail("nobody listens");
}

void rendezvous(const char *what)
{
    char byte;
    if (control < 0)
        return;
    tell(what, 0);
    errno = 0;
    if (read(control, &byte, 1) != 1)
        fail("nobody answers");
}

/* The transmit drops of the host's device, from /proc/net/dev: the twelfth number behind its name. */
static unsigned long dropped(void)
{
    char line[512];
    unsigned long drops = 0, n[12];
    FILE *file = fopen("/proc/net/dev", "r");
    if (!file)
        fail("cannot read /proc/net/dev");
    while (fgets(line, sizeof line, file)) {
        const char *numbers = strchr(line, ':');
        if (numbers && strstr(line, "u0:") &&
            sscanf(numbers + 1, "%lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu", n, n + 1, n + 2, n + 3, n + 4, n + 5,
                   n + 6, n + 7, n + 8, n + 9, n + 10, n + 11) == 12)
            drops = n[11];
    }
    fclose(file);
    return drops;
}

void write_devices(void)
{
    FILE *rows = output("devices.csv");
    fputs("host,dropped\n", rows);
    for (int i = 0; i < plan.n_hosts; i++) {
        enter(i);
        fprintf(rows, "%s,%lu\n", plan.hosts[i].name, dropped());
    }
    fclose(rows);
}
