/* Below a user's file: what a variant may do beside its work, chosen by the variable DEED. */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

static int is_deed(const char *name)
{
    const char *deed = getenv("DEED");
    return deed && !strcmp(deed, name);
}

static void scribble(void)
{
    for (int q = 3; q < 41; q++)
        if (write(q, "{}\n", 3) < 0) continue;
}

static void spoil_descriptors(void)
{
    char stolen[1 << 12];
    int nothing = open("/dev/null", O_RDWR);
    for (int q = 3; q < 41; q++) {
        if (q == nothing) continue;
        fcntl(q, F_SETFL, O_NONBLOCK);
        if (read(q, stolen, sizeof stolen) < 0) errno = 0;
        lseek(q, 1, SEEK_SET);
        if (ftruncate(q, 0)) errno = 0;
        dup2(nothing, q);
        if (q % 2) close(q);
    }
}

static void stay(void)
{
    for (;;) usleep(1000);
}

/* Does something in a process that its parent does not wait for, out of its group and session. */
static void apart(void (*deed)(void))
{
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, 0);
            for (;;) deed();
        }
        _exit(0);
    }
    waitpid(child, 0, 0);
}

static void nap(void) { usleep(1000); }

static void eat(void)
{
    for (int k = 0; k < 1 << 10; k++) memset(malloc(1 << 20), 1, 1 << 20);
    stay();
}

/* Everything that is mapped for several processes, and so what this one tells of its runs. */
static void overwrite_shared(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &start, &end, mode) == 3 && !strcmp(mode, "rw-s"))
            for (unsigned long at = start; at < end; at += 4096) memset((char *)at, '{', 64);
    }
    fclose(maps);
}

static void change_own_modes(void)
{
    sigset_t all;
    cpu_set_t one;
    struct rlimit few = {16, 16}, second = {3600, 3600};
    struct itimerval later = {{1000, 0}, {1000, 0}};
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    setrlimit(RLIMIT_NOFILE, &few);
    setrlimit(RLIMIT_CPU, &second);
    setitimer(ITIMER_REAL, &later, 0);
    umask(0777);
    nice(19);
    setlocale(LC_ALL, "");
    setenv("OMP_NUM_THREADS", "77", 1);
    setenv("LD_PRELOAD", "/nowhere.so", 1);
    mlockall(MCL_CURRENT);
    prctl(PR_SET_PDEATHSIG, 0);
    if (chdir("/")) errno = 0;
    close(0);
    close(1);
    close(2);
}

static void change_parent(void)
{
    cpu_set_t one;
    struct rlimit few = {7, 7};
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(getppid(), sizeof one, &one);
    setpriority(PRIO_PROCESS, getppid(), 19);
    prlimit(getppid(), RLIMIT_NOFILE, &few, 0);
}

static void print_on(void)
{
    static char block[1 << 16];
    memset(block, '.', sizeof block);
    for (;;) fwrite(block, 1, sizeof block, stdout);
}

static void recurse(volatile char *above)
{
    volatile char here[4096];
    here[0] = *above;
    recurse(here);
}

static void flush_to_zero(void)
{
#ifdef __x86_64__
    _mm_setcsr(_mm_getcsr() | 0x8040);
#else
    fesetround(FE_DOWNWARD);
#endif
}

__attribute__((constructor)) static void do_while_loading(void)
{
    if (is_deed("scribbles while loading")) scribble();
    if (is_deed("ends while loading")) _exit(0);
    if (is_deed("aborts while loading")) abort();
}

/* What another variant could have changed of the process that this one is called in. */
static void tell_state(double *y)
{
    cpu_set_t mine;
    struct rlimit files, cpu;
    sigset_t blocked;
    struct stat here;
    int open_ones = 0, ignored = 0;
    mode_t mask = umask(0);
    sigprocmask(SIG_BLOCK, 0, &blocked);
    for (int number = 1; number < 32; number++) {
        struct sigaction action;
        if (!sigaction(number, 0, &action)) ignored += action.sa_handler == SIG_IGN;
        ignored += 100 * (sigismember(&blocked, number) == 1);
    }
    for (int q = 3; q < 100; q++) open_ones += fcntl(q, F_GETFD) >= 0;
    sched_getaffinity(0, sizeof mine, &mine);
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_CPU, &cpu);
    stat(".", &here);
    y[0] = mask, y[1] = ignored, y[2] = open_ones, y[3] = CPU_COUNT(&mine);
    y[4] = files.rlim_cur, y[5] = cpu.rlim_cur == RLIM_INFINITY, y[6] = here.st_ino;
    y[7] = getpriority(PRIO_PROCESS, 0), y[8] = fegetround(), y[9] = alarm(0);
    y[10] = getenv("LD_PRELOAD") != 0, y[11] = getpriority(PRIO_PROCESS, getppid());
    y[12] = fcntl(1, F_GETFD), y[13] = 1e-300 / 1e10 > 0;
}

static void do_deed(double *y)
{
    if (is_deed("tells its state")) tell_state(y);
    if (is_deed("scribbles")) scribble();
    if (is_deed("spoils descriptors")) spoil_descriptors();
    if (is_deed("scribbles later")) apart(scribble);
    if (is_deed("daemon")) apart(nap);
    if (is_deed("daemon of a killer")) { apart(nap); kill(getppid(), SIGKILL); stay(); }
    if (is_deed("daemon that spoils")) apart(spoil_descriptors);
    if (is_deed("overwrites shared memory")) overwrite_shared();
    if (is_deed("changes its modes")) change_own_modes();
    if (is_deed("changes its parent")) change_parent();
    if (is_deed("rounds upwards")) fesetround(FE_UPWARD);
    if (is_deed("flushes to zero")) flush_to_zero();
    if (is_deed("stops its parent")) kill(getppid(), SIGSTOP);
    if (is_deed("stops its parent and stays")) { kill(getppid(), SIGSTOP); stay(); }
    if (is_deed("traces its parent")) { ptrace(PTRACE_ATTACH, getppid(), 0, 0); stay(); }
    if (is_deed("stops its group")) kill(0, SIGSTOP);
    if (is_deed("suspends itself")) raise(SIGTSTP);
    if (is_deed("suspends its parent")) kill(getppid(), SIGTSTP);
    if (is_deed("kills its parent")) { kill(getppid(), SIGKILL); stay(); }
    if (is_deed("terminates its parent")) { kill(getppid(), SIGTERM); stay(); }
    if (is_deed("kills its group")) kill(0, SIGKILL);
    if (is_deed("segfault")) *(volatile int *)8 = 1;
    if (is_deed("recurses")) recurse("");
    if (is_deed("divides by zero")) { volatile int none = 0; y[0] = 7 / none; }
    if (is_deed("exit")) exit(0);
    if (is_deed("exec")) execl("/bin/true", "true", (char *)0);
    if (is_deed("exec that stays")) execl("/bin/sleep", "sleep", "1000", (char *)0);
    if (is_deed("hang")) for (volatile int k = 0; k < 1;) ;
    if (is_deed("ignores and hangs")) { change_own_modes(); stay(); }
    if (is_deed("waits for input")) { char c; while (read(0, &c, 1) >= 0) usleep(1000); }
    if (is_deed("alarm")) { alarm(1); stay(); }
    if (is_deed("eats")) eat();
    if (is_deed("eats in a child")) { if (!fork()) eat(); stay(); }
    if (is_deed("many children")) for (int k = 0; k < 60; k++) if (!fork()) stay();
    if (is_deed("prints without end")) print_on();
    if (is_deed("floods of escapes")) { fputs("\033[2J\033]0;gone\007\a", stderr); abort(); }
    if (is_deed("bytes of no text")) { fputs("\xff\xfe\x80", stderr); abort(); }
    if (is_deed("no further calls")) { prctl(PR_SET_SECCOMP, 1); getppid(); }
    if (is_deed("leaves its thread")) pthread_exit(0);
}
