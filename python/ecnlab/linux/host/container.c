/* Starts the guest on the machine's own kernel: in namespaces of processes, mounts and networks that end with it.
 *
 *     container PARENT CONTROL ROOT    the guest in ROOT, with the socket CONTROL, until PARENT dies
 *     container check                  whether that could be done here; nothing is left of it
 *
 * Every process dies with its parent, so nothing outlives PARENT, whatever ends it. On failure the standard error says
 * what could not be done, and the exit code is 70. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAILED = 70, CONTROL = 3 };

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(FAILED);
}

static void separate(void)
{
    if (unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID))
        fail("namespaces");
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        fail("mounts");
}

/* A device is made, not looked for: a file at /dev/net/tun proves nothing. */
static void check_tun(void)
{
    struct ifreq request = {.ifr_name = "check", .ifr_flags = IFF_TUN | IFF_NO_PI};
    int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (tun < 0 || ioctl(tun, TUNSETIFF, &request))
        fail("tun");
    close(tun);
}

/* `alive` is the end of a pipe whose other end only the parent holds: a parent that died before it could be tied to
 * is noticed there. */
static void die_with_parent(int alive)
{
    struct pollfd fd = {.fd = alive};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL))
        fail("prctl");
    if (poll(&fd, 1, 0) != 0)
        exit(FAILED);
}

static void run_guest(const char *root, int control, int alive)
{
    die_with_parent(alive);
    if (control != CONTROL && (dup2(control, CONTROL) < 0 || close(control)))
        fail("control");
    if (chroot(root) || chdir("/"))
        fail("chroot");
    execl("/init", "/init", "wall", "3", NULL);
    fail("the guest");
}

int main(int argc, char **argv)
{
    int status, pipe_[2];
    if (argc == 2 && !strcmp(argv[1], "check")) {
        separate();
        check_tun();
        return 0;
    }
    if (argc != 4)
        return FAILED;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL))
        fail("prctl");
    if (getppid() != atoi(argv[1]))
        return FAILED;
    separate();
    if (pipe2(pipe_, O_CLOEXEC))
        fail("pipe");
    pid_t guest = fork();
    if (guest < 0)
        fail("fork");
    if (guest == 0) {
        close(pipe_[1]);
        run_guest(argv[3], atoi(argv[2]), pipe_[0]);
    }
    close(atoi(argv[2]));
    if (waitpid(guest, &status, 0) < 0)
        fail("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}
