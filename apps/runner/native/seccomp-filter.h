/*
 * The system calls that a sandbox keeps. The filter stands by itself: it does not count on the
 * version of Landlock, which left truncate, ioctl and signals alone on older kernels, and leaves
 * the names and dates of files alone on all.
 */
#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include "refuse.h"

enum { ENOSYS = 38, EPERM = 1 };

/* A call that is newer does not exist in here. */
#define NEWEST_SYSCALL 449

#define AT(nr) (__NR_##nr)
static const int denied[] = {
    /* Every socket: the one channel is open already. Unix sockets too, because Landlock does not
       stop a connect to a socket file that file permissions leave open. */
    AT(socket), AT(socketpair), AT(connect), AT(bind), AT(listen), AT(accept), AT(accept4),
    /* Other processes: looking into them, signals, their limits, priorities and groups. */
    AT(ptrace), AT(process_vm_readv), AT(process_vm_writev), AT(kcmp), AT(pidfd_open),
    AT(pidfd_getfd), AT(pidfd_send_signal), AT(kill), AT(tkill), AT(rt_sigqueueinfo),
    AT(rt_tgsigqueueinfo), AT(process_madvise), AT(process_mrelease), AT(get_robust_list),
    AT(setpriority), AT(ioprio_set), AT(sched_setscheduler), AT(sched_setparam), AT(sched_setattr),
    AT(sched_setaffinity), AT(migrate_pages), AT(move_pages), AT(setpgid), AT(setsid),
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
    /* Names, dates, lists and places of files that it may not read. */
    AT(faccessat), AT(faccessat2), AT(readlinkat), AT(statfs), AT(chdir), AT(fchdir),
    AT(getdents64), AT(getxattr), AT(lgetxattr), AT(fgetxattr), AT(listxattr), AT(llistxattr),
    AT(flistxattr), AT(inotify_init1), AT(inotify_add_watch), AT(fanotify_init), AT(fanotify_mark),
    /* Changes of files, those of the same owner and those that are open included. */
    AT(truncate), AT(ftruncate), AT(fallocate), AT(fchmod), AT(fchmodat), AT(fchown), AT(fchownat),
    AT(utimensat), AT(setxattr), AT(lsetxattr), AT(fsetxattr), AT(removexattr), AT(lremovexattr),
    AT(fremovexattr), AT(mkdirat), AT(mknodat), AT(unlinkat), AT(renameat), AT(renameat2),
    AT(linkat), AT(symlinkat),
    /* The machine. */
    AT(kexec_load), AT(kexec_file_load), AT(init_module), AT(finit_module), AT(delete_module),
    AT(reboot), AT(acct), AT(swapon), AT(swapoff), AT(quotactl), AT(quotactl_fd), AT(syslog),
    AT(sethostname), AT(setdomainname), AT(settimeofday), AT(clock_settime), AT(clock_adjtime),
    AT(adjtimex), AT(vhangup), AT(lookup_dcookie), AT(nfsservctl), AT(sync), AT(syncfs),
#if defined(__x86_64__)
    AT(fork), AT(vfork), AT(access), AT(stat), AT(lstat), AT(readlink), AT(getdents), AT(creat),
    AT(mkdir), AT(rmdir), AT(mknod), AT(unlink), AT(rename), AT(link), AT(symlink), AT(chmod),
    AT(chown), AT(lchown), AT(utime), AT(utimes), AT(futimesat), AT(inotify_init), AT(iopl),
    AT(ioperm), AT(modify_ldt), AT(uselib), AT(ustat), AT(sysfs), AT(_sysctl), AT(create_module),
    AT(get_kernel_syms), AT(query_module),
#endif
};

static struct sock_filter program[1024];
static u32 size;

static void emit(int code, u32 k, int jump_true, int jump_false) {
  if (size >= sizeof program / sizeof *program) refuse("building the filter", 0);
  program[size++] =
      (struct sock_filter){(unsigned short)code, (unsigned char)jump_true, (unsigned char)jump_false, k};
}

#define LOAD(offset) emit(BPF_LD | BPF_W | BPF_ABS, (offset), 0, 0)
#define RETURN(action) emit(BPF_RET | BPF_K, (action), 0, 0)
#define UNLESS_EQUAL_SKIP(value, count) emit(BPF_JMP | BPF_JEQ | BPF_K, (u32)(value), 0, (count))
#define UNLESS_ANY_BIT_SKIP(bits, count) emit(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (count))
#define ERRNO(error) (SECCOMP_RET_ERRNO | (error))
/* Both machines are little-endian: the low half of an argument comes first. */
#define ARGUMENT(n) (16 + 8 * (n))

static void answer(int number, u32 action) {
  UNLESS_EQUAL_SKIP(number, 1);
  RETURN(action);
}

/* Allows the call if the low half of an argument is one of `values`. */
static void allow_only(int number, int argument, const u32 *values, int count) {
  UNLESS_EQUAL_SKIP(number, 2 * count + 2);
  LOAD(ARGUMENT(argument));
  for (int i = 0; i < count; i++) answer((int)values[i], SECCOMP_RET_ALLOW);
  RETURN(ERRNO(EPERM));
}

/* Allows the call if an argument has at least one of `bits`. */
static void allow_with(int number, int argument, u32 bits) {
  UNLESS_EQUAL_SKIP(number, 4);
  LOAD(ARGUMENT(argument));
  UNLESS_ANY_BIT_SKIP(bits, 1);
  RETURN(SECCOMP_RET_ALLOW);
  RETURN(ERRNO(EPERM));
}

/* Allows the call if an argument has none of `bits`. */
static void allow_without(int number, int argument, u32 bits) {
  UNLESS_EQUAL_SKIP(number, 4);
  LOAD(ARGUMENT(argument));
  UNLESS_ANY_BIT_SKIP(bits, 1);
  RETURN(ERRNO(EPERM));
  RETURN(SECCOMP_RET_ALLOW);
}

/* Threads of this process only, so that nothing outlives it and nothing forks. */
static void allow_threads(void) {
  const u32 new_namespaces = 0x7e020080;
  const u32 thread = 0x00010000;
  UNLESS_EQUAL_SKIP(__NR_clone, 6);
  LOAD(ARGUMENT(0));
  UNLESS_ANY_BIT_SKIP(new_namespaces, 1);
  RETURN(ERRNO(EPERM));
  UNLESS_ANY_BIT_SKIP(thread, 1);
  RETURN(SECCOMP_RET_ALLOW);
  RETURN(ERRNO(EPERM));
  answer(__NR_clone3, ERRNO(ENOSYS)); /* its flags are out of reach; libc falls back to clone */
}

/* Files are read, and nothing else. O_PATH would give their dates away. */
static void allow_reading(void) {
  const u32 more = O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | __O_TMPFILE;
  allow_without(__NR_openat, 2, more);
#if defined(__x86_64__)
  allow_without(__NR_open, 1, more);
#endif
  answer(__NR_openat2, ERRNO(ENOSYS)); /* its flags are out of reach */
  /* libc asks for the status of an open file by an empty path, which a filter cannot see. */
  allow_with(__NR_newfstatat, 3, AT_EMPTY_PATH);
  allow_with(__NR_statx, 2, AT_EMPTY_PATH);
}

/* No signals to others (F_SETOWN, FIOSETOWN, O_ASYNC), no terminals, no attributes of files. */
static void allow_flags_of_descriptors(void) {
  const u32 commands[] = {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC};
  const int count = sizeof commands / sizeof *commands;
  UNLESS_EQUAL_SKIP(__NR_fcntl, 2 * count + 7);
  LOAD(ARGUMENT(1));
  for (int i = 0; i < count; i++) answer((int)commands[i], SECCOMP_RET_ALLOW);
  UNLESS_EQUAL_SKIP(F_SETFL, 4);
  LOAD(ARGUMENT(2));
  UNLESS_ANY_BIT_SKIP(FASYNC, 1);
  RETURN(ERRNO(EPERM));
  RETURN(SECCOMP_RET_ALLOW);
  RETURN(ERRNO(EPERM));

  const u32 requests[] = {TCGETS, FIOCLEX, FIONCLEX, FIONBIO, FIONREAD};
  allow_only(__NR_ioctl, 1, requests, sizeof requests / sizeof *requests);
}

static void allow_own_process(void) {
  u32 self[] = {(u32)sys(__NR_getpid, 0, 0, 0, 0, 0), 0};
  allow_only(__NR_tgkill, 0, self, 1);
  allow_only(__NR_prlimit64, 0, self, 2);
  /* It dies with its runner, whether it wants to or not. */
  UNLESS_EQUAL_SKIP(__NR_prctl, 4);
  LOAD(ARGUMENT(0));
  answer(PR_SET_PDEATHSIG, ERRNO(EPERM));
  RETURN(SECCOMP_RET_ALLOW);
}

static void build_filter(void) {
  LOAD(4);
  emit(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  RETURN(SECCOMP_RET_KILL_PROCESS);
  LOAD(0);
  emit(BPF_JMP | BPF_JGT | BPF_K, NEWEST_SYSCALL, 0, 1); /* x32 calls have bit 30 set */
  RETURN(ERRNO(ENOSYS));

  for (ulong i = 0; i < sizeof denied / sizeof *denied; i++) answer(denied[i], ERRNO(EPERM));
  allow_threads();
  allow_own_process();
  allow_reading();
  allow_flags_of_descriptors();
  RETURN(SECCOMP_RET_ALLOW);
}

static void install_filter(void) {
  struct sock_fprog filter = {(unsigned short)size, program};
  must("seccomp", sys(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter, 0, 0));
}
