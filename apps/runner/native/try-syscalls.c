/*
 * try-syscalls ... --targets RUNNER SIBLING ADDRESS PORT FOLDER READABLE
 *
 * Makes the system calls of a hostile program that JavaScript cannot make, and reports each on file
 * descriptor 3: its name, and the errno or 0. It says that it is ready, and begins when it reads a
 * byte there. Serves the specs alone: they see each call succeed without the sandbox and fail in it.
 *
 * RUNNER and SIBLING are processes of the same user, ADDRESS is mapped in RUNNER. FOLDER belongs to
 * the user and holds `victim` and `link`. READABLE is a file that a sandbox may read. File
 * descriptor 2 is a file that is open for writing.
 */
#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/un.h>
#include "bare-linux.h"

enum { CHANNEL = 3, LENT = 2, SIGCHLD = 17, AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, STREAM = 1 };

static char folder[512], victim[512], link[512], made[512];
static const char *readable;
static long runner, sibling, address, port;
static char space[4096];
static const char zeros[128];

static void report(const char *name, long result) {
  char digits[8] = {0};
  int at = sizeof digits - 1;
  ulong error = result < 0 ? (ulong)-result : 0;
  do digits[--at] = (char)('0' + error % 10);
  while (error /= 10);
  say(CHANNEL, name);
  say(CHANNEL, "=");
  say(CHANNEL, digits + at);
  say(CHANNEL, "\n");
}

static void join(char *to, const char *path, const char *name) {
  ulong n = length(path);
  memcpy(to, path, n);
  memcpy(to + n, name, length(name) + 1);
}

static long number(const char *text) {
  long value = 0;
  for (; *text; text++) value = value * 10 + (*text - '0');
  return value;
}

#define TRY(name, call, a, b, c, d, e) report(name, sys(__NR_##call, a, b, c, d, e))

/* ---- files ---- */

static void try_looking_at_files(void) {
  struct {
    u64 flags, mode, resolve;
  } how = {O_PATH, 0, 0};
  TRY("newfstatat", newfstatat, AT_FDCWD, victim, space, 0, 0);
  TRY("statx", statx, AT_FDCWD, victim, 0, 0x7ff, space);
  TRY("faccessat", faccessat, AT_FDCWD, victim, 0, 0, 0);
  TRY("faccessat2", faccessat2, AT_FDCWD, victim, 0, 0, 0);
  TRY("readlinkat", readlinkat, AT_FDCWD, link, space, sizeof space, 0);
  TRY("statfs", statfs, folder, space, 0, 0, 0);
  TRY("chdir", chdir, folder, 0, 0, 0, 0);
  TRY("listxattr", listxattr, victim, space, sizeof space, 0, 0);
  TRY("llistxattr", llistxattr, link, space, sizeof space, 0, 0);
  TRY("openat O_PATH", openat, AT_FDCWD, victim, O_PATH, 0, 0);
  TRY("openat2 O_PATH", openat2, AT_FDCWD, victim, &how, sizeof how, 0);
  TRY("inotify_init1", inotify_init1, 0, 0, 0, 0, 0);
  /* The form in which libc asks for the status of an open file, with a path all the same. */
  TRY("newfstatat AT_EMPTY_PATH", newfstatat, AT_FDCWD, victim, space, AT_EMPTY_PATH, 0);
  TRY("statx AT_EMPTY_PATH", statx, AT_FDCWD, victim, AT_EMPTY_PATH, 0x7ff, space);
#if defined(__x86_64__)
  TRY("stat", stat, victim, space, 0, 0, 0);
  TRY("lstat", lstat, victim, space, 0, 0, 0);
  TRY("access", access, victim, 0, 0, 0, 0);
  TRY("readlink", readlink, link, space, sizeof space, 0, 0);
  TRY("open O_PATH", open, victim, O_PATH, 0, 0, 0);
#endif
}

static void try_changing_files(void) {
  TRY("fallocate", fallocate, LENT, 1, 0, 1, 0);
  TRY("ftruncate", ftruncate, LENT, 0, 0, 0, 0);
  TRY("fchmod", fchmod, LENT, 0644, 0, 0, 0);
  TRY("fchown", fchown, LENT, -1, -1, 0, 0);
  TRY("utimensat of an open file", utimensat, LENT, 0, 0, 0, 0);
  TRY("truncate", truncate, victim, 0, 0, 0, 0);
  TRY("openat O_TRUNC of a readable file", openat, AT_FDCWD, readable, O_RDONLY | O_TRUNC, 0, 0);
  TRY("fchmodat", fchmodat, AT_FDCWD, victim, 0644, 0, 0);
  TRY("fchownat", fchownat, AT_FDCWD, victim, -1, -1, 0);
  TRY("utimensat", utimensat, AT_FDCWD, victim, 0, 0, 0);
  TRY("mkdirat", mkdirat, AT_FDCWD, made, 0755, 0, 0);
  TRY("unlinkat of a folder", unlinkat, AT_FDCWD, made, 0x200, 0, 0);
  TRY("mknodat", mknodat, AT_FDCWD, made, 0010644, 0, 0);
  TRY("unlinkat", unlinkat, AT_FDCWD, made, 0, 0, 0);
  TRY("symlinkat", symlinkat, "victim", AT_FDCWD, made, 0, 0);
  TRY("renameat2", renameat2, AT_FDCWD, made, AT_FDCWD, link, 0);
  TRY("linkat", linkat, AT_FDCWD, victim, AT_FDCWD, made, 0);
}

/* ---- signals by way of descriptors ---- */

static void try_signals_of_descriptors(void) {
  int to = (int)runner;
  int on = 1;
  int owner[2] = {1 /* F_OWNER_PID */, to};
  TRY("fcntl F_SETOWN", fcntl, CHANNEL, F_SETOWN, to, 0, 0);
  TRY("fcntl F_SETOWN_EX", fcntl, CHANNEL, F_SETOWN_EX, owner, 0, 0);
  TRY("fcntl F_SETSIG", fcntl, CHANNEL, F_SETSIG, 10, 0, 0);
  TRY("ioctl FIOSETOWN", ioctl, CHANNEL, 0x8901, &to, 0, 0);
  TRY("ioctl SIOCSPGRP", ioctl, CHANNEL, 0x8902, &to, 0, 0);
  /* Asynchronous from here on: no owner again, so that nobody is signalled. */
  sys(__NR_fcntl, CHANNEL, F_SETOWN, 0, 0, 0);
  TRY("fcntl F_SETFL O_ASYNC", fcntl, CHANNEL, F_SETFL, FASYNC, 0, 0);
  TRY("ioctl FIOASYNC", ioctl, CHANNEL, FIOASYNC, &on, 0, 0);
  on = 0;
  sys(__NR_ioctl, CHANNEL, FIOASYNC, &on, 0, 0);
}

/* ---- other processes ---- */

static void try_other_processes(void) {
  struct {
    void *base;
    ulong length;
  } here = {space, 16}, there = {(void *)address, 16};
  int queued[32] = {0, 0, -1};
  long pidfd = sys(__NR_pidfd_open, runner, 0, 0, 0, 0);
  TRY("kill the runner", kill, runner, 0, 0, 0, 0);
  TRY("kill a sibling", kill, sibling, 0, 0, 0, 0);
  TRY("tkill", tkill, runner, 0, 0, 0, 0);
  TRY("tgkill", tgkill, runner, runner, 0, 0, 0);
  TRY("rt_sigqueueinfo", rt_sigqueueinfo, runner, 0, queued, 0, 0);
  TRY("rt_tgsigqueueinfo", rt_tgsigqueueinfo, runner, runner, 0, queued, 0);
  report("pidfd_open", pidfd);
  TRY("pidfd_send_signal", pidfd_send_signal, pidfd, 0, 0, 0, 0);
  TRY("pidfd_getfd", pidfd_getfd, pidfd, 0, 0, 0, 0);
  report("process_vm_readv", sys6(__NR_process_vm_readv, runner, (long)&here, 1, (long)&there, 1, 0));
  TRY("kcmp", kcmp, sys(__NR_getpid, 0, 0, 0, 0, 0), runner, 2, 0, 0);
  TRY("get_robust_list", get_robust_list, runner, space, space + 8, 0, 0);
  TRY("ptrace the runner", ptrace, PTRACE_SEIZE, runner, 0, 0, 0);
  TRY("ptrace a sibling", ptrace, PTRACE_SEIZE, sibling, 0, 0, 0);
  TRY("prlimit64", prlimit64, runner, 7, 0, space, 0);
  TRY("setpriority", setpriority, 0, runner, 5, 0, 0);
  TRY("sched_setscheduler", sched_setscheduler, runner, 0, zeros, 0, 0);
  TRY("setpgid", setpgid, 0, 0, 0, 0, 0);
  TRY("prctl PR_SET_PDEATHSIG", prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0);
}

/* A child ends at once. */
static void fork_by(const char *name, long result) {
  if (result == 0) leave(0);
  report(name, result);
}

static void try_more_processes(void) {
  u64 arguments[8] = {0, 0, 0, 0, SIGCHLD, 0, 0, 0};
  fork_by("clone", sys(__NR_clone, SIGCHLD, 0, 0, 0, 0));
  fork_by("clone3", sys(__NR_clone3, arguments, sizeof arguments, 0, 0, 0));
  fork_by("clone CLONE_NEWUSER", sys(__NR_clone, SIGCHLD | CLONE_NEWUSER, 0, 0, 0, 0));
  TRY("unshare CLONE_NEWUSER", unshare, CLONE_NEWUSER, 0, 0, 0, 0);
}

/* ---- sockets ---- */

static long connected(int family, int type, const void *to, ulong size) {
  long fd = sys(__NR_socket, family, type, 0, 0, 0);
  return fd < 0 ? fd : sys(__NR_connect, fd, to, size, 0, 0);
}

static void try_sockets(void) {
  int pair[2];
  unsigned short number = (unsigned short)((port & 0xff) << 8 | port >> 8);
  struct sockaddr_in to = {AF_INET, number, {0x0100007f}, {0}};
  struct sockaddr_in6 to6 = {AF_INET6, number, 0, {{{0}}}, 0};
  to6.sin6_addr.in6_u.u6_addr8[15] = 1;
  struct sockaddr_un file = {AF_UNIX, {0}}, abstract = {AF_UNIX, {0}};
  join(file.sun_path, folder, "/listener");
  /* The name of the abstract socket is its port, in digits. */
  int digits = 0;
  for (long rest = port; rest; rest /= 10) abstract.sun_path[++digits] = (char)('0' + rest % 10);
  TRY("socketpair", socketpair, AF_UNIX, STREAM, 0, pair, 0);
  report("connect to TCP", connected(AF_INET, STREAM, &to, sizeof to));
  report("connect to TCP over IPv6", connected(AF_INET6, STREAM, &to6, sizeof to6));
  report("connect to UDP", connected(AF_INET, 2, &to, sizeof to));
  report("connect to a socket file", connected(AF_UNIX, STREAM, &file, sizeof file));
  report("connect to an abstract socket", connected(AF_UNIX, STREAM, &abstract, sizeof abstract));
}

/* ---- memory and queues that outlive a process ---- */

static void try_kernel_objects(void) {
  long id = sys(__NR_shmget, 0, 4096, 0600, 0, 0);
  report("shmget", id);
  sys(__NR_shmctl, id, 0, 0, 0, 0);
  id = sys(__NR_msgget, 0, 0600, 0, 0, 0);
  report("msgget", id);
  sys(__NR_msgctl, id, 0, 0, 0, 0);
  id = sys(__NR_semget, 0, 1, 0600, 0, 0);
  report("semget", id);
  sys(__NR_semctl, id, 0, 0, 0, 0);
  TRY("memfd_create", memfd_create, "x", 0, 0, 0, 0);
  memset(space, 0, sizeof space);
  TRY("io_uring_setup", io_uring_setup, 1, space, 0, 0, 0);
  TRY("personality", personality, 0xffffffff, 0, 0, 0, 0);
}

__attribute__((noreturn, used)) void start(long *stack) {
  long count = stack[0];
  char **arguments = (char **)(stack + 1);
  if (count == 2 && same(arguments[1], "--version")) {
    say(1, "try-syscalls source-sha256=" SOURCE_SHA256 "\n");
    leave(0);
  }
  if (count < 8 || !same(arguments[count - 7], "--targets")) leave(2);
  runner = number(arguments[count - 6]);
  sibling = number(arguments[count - 5]);
  address = number(arguments[count - 4]);
  port = number(arguments[count - 3]);
  join(folder, arguments[count - 2], "");
  readable = arguments[count - 1];
  join(victim, folder, "/victim");
  join(link, folder, "/link");
  join(made, folder, "/made");

  say(CHANNEL, "ready\n");
  sys(__NR_read, CHANNEL, space, 1, 0, 0);
  try_looking_at_files();
  try_changing_files();
  try_signals_of_descriptors();
  try_other_processes();
  try_sockets();
  try_kernel_objects();
  try_more_processes();
  leave(0);
}
