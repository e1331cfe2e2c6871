/*
 * sandbox-exec [--uid N] [--data-mb N] [--nofile N] [--nproc N] [--landlock-abi N]
 *              [--read PATH]... [--exec PATH]... -- COMMAND [ARG]...
 *
 * Takes away what a process of customers' code does not need, then becomes COMMAND with an empty
 * environment. Needs no privilege and no namespace. Fails closed: a step that the kernel refuses
 * ends with status 126 and one line on stderr, and COMMAND never starts.
 *
 * --landlock-abi acts like an older kernel, so that tests see what holds there.
 *
 * No libc: nothing here depends on the machine it runs on but Linux >= 5.13 (Landlock).
 */
#include <linux/close_range.h>
#include <linux/resource.h>
#include "landlock.h"
#include "seccomp-filter.h"

static const char version[] = "sandbox-exec source-sha256=" SOURCE_SHA256 "\n";

enum { KILLED = 9 };

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

/* ---- the order matters: each step may need what a later one takes away ---- */

__attribute__((noreturn, used)) void start(long *stack) {
  long count = stack[0];
  char **arguments = (char **)(stack + 1);
  static char *no_environment[1];
  ulong uid = 0, data_mb = 0, nofile = 64, nproc = 4096, landlock_abi = 0;
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
    else if (same(name, "--landlock-abi")) landlock_abi = number(value);
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

  int ruleset = make_ruleset((long)landlock_abi);
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
