/*
 * sandbox-exec [--uid N] [--data-mb N] [--nofile N] [--nproc N] [--read PATH]... [--exec PATH]... -- COMMAND [ARG]...
 *
 * Takes away what a process of customers' code does not need, then becomes COMMAND with an empty
 * environment. Needs no privilege and no namespace. Fails closed: a step that the kernel refuses
 * ends with status 126 and one line on stderr, and COMMAND never starts.
 *
 * No libc: nothing here depends on the machine it runs on but Linux >= 5.13 (Landlock).
 */
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/seccomp.h>

#ifndef SOURCE_SHA256
#error "build with native/build.mjs, which passes SOURCE_SHA256"
#endif

typedef unsigned long ulong;
typedef unsigned long long u64;
typedef unsigned int u32;

static const char version[] = "sandbox-exec source-sha256=" SOURCE_SHA256 "\n";

enum { O_PATH_CLOEXEC = 010000000 | 02000000, KILLED = 9, ENOSYS = 38, EPERM = 1 };

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
static long sys6(long n, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
__asm__(".globl _start\n_start:\n xor %ebp,%ebp\n mov %rsp,%rdi\n and $-16,%rsp\n call start\n hlt\n");
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
static long sys6(long n, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}
__asm__(".globl _start\n_start:\n mov x29,#0\n mov x30,#0\n mov x0,sp\n bl start\n brk #0\n");
#else
#error "no system call table for this architecture"
#endif

#define sys(n, a, b, c, d, e) \
  sys6((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/* The compiler may emit calls of these two even without a libc. */
void *memset(void *to, int byte, ulong count) {
  for (ulong i = 0; i < count; i++) ((volatile char *)to)[i] = (char)byte;
  return to;
}
void *memcpy(void *to, const void *from, ulong count) {
  for (ulong i = 0; i < count; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}

static ulong length(const char *text) {
  ulong n = 0;
  while (text[n]) n++;
  return n;
}

static int same(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

static void say(int fd, const char *text) { sys(__NR_write, fd, text, length(text), 0, 0); }

static __attribute__((noreturn)) void leave(int status) {
  for (;;) sys(__NR_exit_group, status, 0, 0, 0, 0);
}

static __attribute__((noreturn)) void refuse(const char *step, long error) {
  char digits[8] = {0};
  int at = sizeof digits - 1;
  for (ulong n = error < 0 ? -error : 0; at > 0 && (n || at == sizeof digits - 1); n /= 10)
    digits[--at] = (char)('0' + n % 10);
  say(2, "sandbox-exec: refused, ");
  say(2, step);
  say(2, " failed with errno ");
  say(2, digits + at);
  say(2, "\n");
  leave(126);
}

static void must(const char *step, long result) {
  if (result < 0) refuse(step, result);
}

static ulong number(const char *text) {
  ulong value = 0;
  if (!text || !*text) refuse("reading a number", 0);
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || value > 100000000) refuse("reading a number", 0);
    value = value * 10 + (ulong)(*text - '0');
  }
  return value;
}

static void limit(const char *name, int resource, u64 value) {
  u64 both[2] = {value, value};
  must(name, sys(__NR_prlimit64, 0, resource, both, 0, 0));
}

/* ---- Landlock: constants of our own, because the headers of build machines lag behind ---- */

enum {
  FS_EXECUTE = 1 << 0,
  FS_READ_FILE = 1 << 2,
  FS_READ_DIR = 1 << 3,
  FS_ABI_1 = (1 << 13) - 1,
  FS_REFER = 1 << 13,    /* ABI 2 */
  FS_TRUNCATE = 1 << 14, /* ABI 3 */
  FS_IOCTL_DEV = 1 << 15 /* ABI 5 */
};

struct ruleset {
  u64 fs, net, scoped;
};

struct __attribute__((packed)) path_rule {
  u64 allowed;
  int fd;
};

static int make_ruleset(void) {
  long abi = sys(__NR_landlock_create_ruleset, 0, 0, 1, 0, 0);
  must("landlock", abi);
  struct ruleset rules = {FS_ABI_1, 0, 0};
  ulong size = 8;
  if (abi >= 2) rules.fs |= FS_REFER;
  if (abi >= 3) rules.fs |= FS_TRUNCATE;
  if (abi >= 5) rules.fs |= FS_IOCTL_DEV;
  if (abi >= 4) rules.net = 3 /* bind and connect TCP */, size = 16;
  if (abi >= 6) rules.scoped = 3 /* abstract sockets and signals */, size = 24;
  long fd = sys(__NR_landlock_create_ruleset, &rules, size, 0, 0, 0);
  must("landlock ruleset", fd);
  return (int)fd;
}

static void allow_path(int ruleset, const char *path, u64 rights) {
  long fd = sys(__NR_openat, -100, path, O_PATH_CLOEXEC, 0, 0);
  must(path, fd);
  struct path_rule rule = {rights | FS_READ_DIR, (int)fd};
  long result = sys(__NR_landlock_add_rule, ruleset, 1, &rule, 0, 0);
  if (result < 0) { /* not a folder: listing does not apply to it */
    rule.allowed = rights;
    result = sys(__NR_landlock_add_rule, ruleset, 1, &rule, 0, 0);
  }
  must(path, result);
  sys(__NR_close, fd, 0, 0, 0, 0);
}

/* ---- seccomp ---- */

/* Everything newer than this does not exist in here. */
#define NEWEST_SYSCALL 449

#define AT(nr) (__NR_##nr)
static const int denied[] = {
    /* Every socket: the one channel is open already. Unix sockets too, because Landlock does not
       stop a connect to a socket file that file permissions leave open. */
    AT(socket), AT(socketpair), AT(connect), AT(bind), AT(listen), AT(accept), AT(accept4),
    /* Other processes: looking into them, signals, their limits and priorities. */
    AT(ptrace), AT(process_vm_readv), AT(process_vm_writev), AT(kcmp), AT(pidfd_open),
    AT(pidfd_getfd), AT(pidfd_send_signal), AT(kill), AT(tkill), AT(rt_sigqueueinfo),
    AT(rt_tgsigqueueinfo), AT(process_madvise), AT(process_mrelease), AT(get_robust_list),
    AT(setpriority), AT(ioprio_set), AT(sched_setscheduler), AT(sched_setparam), AT(sched_setattr),
    AT(sched_setaffinity), AT(migrate_pages), AT(move_pages),
    /* Namespaces, mounts, another root. */
    AT(unshare), AT(setns), AT(mount), AT(umount2), AT(pivot_root), AT(chroot), AT(fsopen),
    AT(fsconfig), AT(fsmount), AT(fspick), AT(move_mount), AT(open_tree), AT(mount_setattr),
    AT(name_to_handle_at), AT(open_by_handle_at), AT(execveat), AT(personality),
    /* Parts of the kernel with a history. */
    AT(bpf), AT(perf_event_open), AT(userfaultfd), AT(io_uring_setup), AT(io_uring_enter),
    AT(io_uring_register), AT(add_key), AT(request_key), AT(keyctl), AT(io_setup), AT(io_submit),
    AT(io_destroy), AT(io_getevents), AT(io_cancel), AT(seccomp), AT(vmsplice), AT(remap_file_pages),
    /* Memory and queues that outlive a process or escape its limits. */
    AT(memfd_create), AT(memfd_secret), AT(shmget), AT(shmat), AT(shmctl), AT(semget), AT(semop),
    AT(semctl), AT(semtimedop), AT(msgget), AT(msgsnd), AT(msgrcv), AT(msgctl), AT(mq_open),
    AT(mq_unlink), AT(mq_timedsend), AT(mq_timedreceive), AT(mq_notify), AT(mq_getsetattr),
    /* What Landlock leaves alone in files of the same owner, and watching them. */
    AT(fchmod), AT(fchmodat), AT(fchown), AT(fchownat), AT(utimensat), AT(setxattr), AT(lsetxattr),
    AT(fsetxattr), AT(removexattr), AT(lremovexattr), AT(fremovexattr), AT(inotify_init1),
    AT(inotify_add_watch), AT(fanotify_init), AT(fanotify_mark),
    /* The machine. */
    AT(kexec_load), AT(kexec_file_load), AT(init_module), AT(finit_module), AT(delete_module),
    AT(reboot), AT(acct), AT(swapon), AT(swapoff), AT(quotactl), AT(quotactl_fd), AT(syslog),
    AT(sethostname), AT(setdomainname), AT(settimeofday), AT(clock_settime), AT(clock_adjtime),
    AT(adjtimex), AT(vhangup), AT(lookup_dcookie), AT(nfsservctl),
#if defined(__x86_64__)
    AT(fork), AT(vfork), AT(chmod), AT(chown), AT(lchown), AT(utime), AT(utimes), AT(futimesat),
    AT(inotify_init), AT(iopl), AT(ioperm), AT(modify_ldt), AT(uselib), AT(ustat), AT(sysfs),
    AT(_sysctl), AT(create_module), AT(get_kernel_syms), AT(query_module),
#endif
};

static struct sock_filter program[512];
static u32 size;

static void emit(int code, u32 k, int jump_true, int jump_false) {
  if (size >= sizeof program / sizeof *program) refuse("building the filter", 0);
  program[size++] =
      (struct sock_filter){(unsigned short)code, (unsigned char)jump_true, (unsigned char)jump_false, k};
}

#define LOAD(offset) emit(BPF_LD | BPF_W | BPF_ABS, (offset), 0, 0)
#define RETURN(action) emit(BPF_RET | BPF_K, (action), 0, 0)
#define UNLESS_EQUAL_SKIP(value, count) emit(BPF_JMP | BPF_JEQ | BPF_K, (u32)(value), 0, (count))
#define ERRNO(error) (SECCOMP_RET_ERRNO | (error))
/* Both machines are little-endian: the low half of an argument comes first. */
#define ARGUMENT(n) (16 + 8 * (n))

static void answer(int number, u32 action) {
  UNLESS_EQUAL_SKIP(number, 1);
  RETURN(action);
}

static void allow_only_pids(int number, const u32 *pids, int count) {
  UNLESS_EQUAL_SKIP(number, 2 * count + 2);
  LOAD(ARGUMENT(0));
  for (int i = 0; i < count; i++) answer((int)pids[i], SECCOMP_RET_ALLOW);
  RETURN(ERRNO(EPERM));
}

static void build_filter(void) {
  u32 self[2] = {(u32)sys(__NR_getpid, 0, 0, 0, 0, 0), 0};

  LOAD(4);
  emit(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  RETURN(SECCOMP_RET_KILL_PROCESS);
  LOAD(0);
  emit(BPF_JMP | BPF_JGT | BPF_K, NEWEST_SYSCALL, 0, 1); /* x32 calls have bit 30 set */
  RETURN(ERRNO(ENOSYS));

  for (ulong i = 0; i < sizeof denied / sizeof *denied; i++) answer(denied[i], ERRNO(EPERM));
  answer(__NR_clone3, ERRNO(ENOSYS)); /* its flags are out of reach; libc falls back to clone */

  /* clone: threads of this process only, so that nothing outlives it and nothing forks. */
  const u32 new_namespaces = 0x7e020080;
  const u32 thread = 0x00010000;
  UNLESS_EQUAL_SKIP(__NR_clone, 5);
  LOAD(ARGUMENT(0));
  emit(BPF_JMP | BPF_JSET | BPF_K, new_namespaces, 1, 0);
  emit(BPF_JMP | BPF_JSET | BPF_K, thread, 1, 0);
  RETURN(ERRNO(EPERM));
  RETURN(SECCOMP_RET_ALLOW);

  allow_only_pids(__NR_tgkill, self, 1);
  allow_only_pids(__NR_prlimit64, self, 2);

  /* ioctl: nothing that types into a terminal. */
  UNLESS_EQUAL_SKIP(__NR_ioctl, 6);
  LOAD(ARGUMENT(1));
  answer(0x5412 /* TIOCSTI */, ERRNO(EPERM));
  answer(0x541c /* TIOCLINUX */, ERRNO(EPERM));
  RETURN(SECCOMP_RET_ALLOW);

  RETURN(SECCOMP_RET_ALLOW);
}

static void install_filter(void) {
  struct sock_fprog filter = {(unsigned short)size, program};
  must("seccomp", sys(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter, 0, 0));
}

/* ---- the order matters: each step may need what a later one takes away ---- */

__attribute__((noreturn, used)) void start(long *stack) {
  long count = stack[0];
  char **arguments = (char **)(stack + 1);
  static char *no_environment[1];
  ulong uid = 0, data_mb = 0, nofile = 64, nproc = 4096;
  int at = 1;

  if (count == 2 && same(arguments[1], "--version")) {
    say(1, version);
    leave(0);
  }
  for (; at + 1 < count && !same(arguments[at], "--"); at += 2) {
    const char *name = arguments[at], *value = arguments[at + 1];
    if (same(name, "--uid")) uid = number(value);
    else if (same(name, "--data-mb")) data_mb = number(value);
    else if (same(name, "--nofile")) nofile = number(value);
    else if (same(name, "--nproc")) nproc = number(value);
    else if (!same(name, "--read") && !same(name, "--exec")) refuse("reading the options", 0);
  }
  if (at + 1 >= count) refuse("finding the command", 0);
  char **command = arguments + at + 1;

  must("close_range", sys(__NR_close_range, 4, ~0u, 0, 0, 0));
  if (uid) {
    must("setgroups", sys(__NR_setgroups, 0, 0, 0, 0, 0));
    must("setresgid", sys(__NR_setresgid, uid, uid, uid, 0, 0));
    must("setresuid", sys(__NR_setresuid, uid, uid, uid, 0, 0));
  }
  if (sys(__NR_geteuid, 0, 0, 0, 0, 0) == 0) refuse("being root: without --uid that", 0);
  must("no_new_privs", sys(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  must("pdeathsig", sys(__NR_prctl, PR_SET_PDEATHSIG, KILLED, 0, 0, 0));
  /* Holds until exec; afterwards it is Landlock that keeps siblings out of each other's memory. */
  must("dumpable", sys(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0));

  /* 1, not 0: a core pattern that is a pipe ignores 0, and 1 is below every file's minimum. */
  limit("core limit", RLIMIT_CORE, 1);
  limit("file size limit", RLIMIT_FSIZE, 0);
  limit("open files limit", RLIMIT_NOFILE, nofile);
  limit("locked memory limit", RLIMIT_MEMLOCK, 0);
  limit("stack limit", RLIMIT_STACK, 8 << 20);
  limit("threads limit", RLIMIT_NPROC, nproc);
  if (data_mb) limit("data limit", RLIMIT_DATA, (u64)data_mb << 20);

  int ruleset = make_ruleset();
  for (int i = 1; i < at; i += 2) {
    if (same(arguments[i], "--read")) allow_path(ruleset, arguments[i + 1], FS_READ_FILE);
    if (same(arguments[i], "--exec")) allow_path(ruleset, arguments[i + 1], FS_READ_FILE | FS_EXECUTE);
  }
  must("landlock restrict", sys(__NR_landlock_restrict_self, ruleset, 0, 0, 0, 0));
  sys(__NR_close, ruleset, 0, 0, 0, 0);

  build_filter();
  install_filter();
  refuse(command[0], sys(__NR_execve, command[0], command, no_environment, 0, 0));
}
