import type { Program } from './programs.cases';

type SystemCall = Omit<Program, 'code'>;

const calls = (names: string, more: Partial<SystemCall> = {}): SystemCall[] =>
  names.split(', ').map((name) => ({ name, ...more }));

/** The attempts of native/try-syscalls.c. */
export const systemCalls: readonly SystemCall[] = [
  ...calls('newfstatat, statx, faccessat, faccessat2, readlinkat, statfs, chdir'),
  ...calls('listxattr, llistxattr, openat O_PATH, openat2 O_PATH, inotify_init1'),
  ...calls('newfstatat AT_EMPTY_PATH, statx AT_EMPTY_PATH', { remainsAtLevel2: true }),
  ...(process.arch === 'x64' ? calls('stat, lstat, access, readlink, open O_PATH') : []),
  ...calls('fallocate, ftruncate, fchmod, fchown, utimensat of an open file, truncate'),
  ...calls('openat O_TRUNC of a readable file, fchmodat, fchownat, utimensat, mkdirat'),
  ...calls('unlinkat of a folder, mknodat, unlinkat, symlinkat, renameat2, linkat'),
  // The kernel checks the owner of a descriptor when it sends the signal, so anybody may be named.
  ...calls('fcntl F_SETOWN, fcntl F_SETOWN_EX, fcntl F_SETSIG, fcntl F_SETFL O_ASYNC'),
  ...calls('ioctl FIOSETOWN, ioctl SIOCSPGRP, ioctl FIOASYNC'),
  ...calls('kill the runner, kill a sibling, tkill, tgkill', { sameUser: true }),
  ...calls('rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal', { sameUser: true }),
  ...calls('pidfd_open'),
  ...calls('kcmp, get_robust_list, prlimit64, setpriority', { sameUser: true }),
  ...calls('sched_setscheduler', { sameUser: true }),
  ...calls('pidfd_getfd, process_vm_readv, ptrace the runner, ptrace a sibling', {
    sameUser: true,
    kernelMayRefuse: true,
  }),
  ...calls('setpgid, prctl PR_SET_PDEATHSIG, clone, clone3'),
  ...calls('clone CLONE_NEWUSER, unshare CLONE_NEWUSER', { kernelMayRefuse: true }),
  ...calls('socketpair, connect to TCP, connect to TCP over IPv6, connect to UDP'),
  ...calls('connect to a socket file, connect to an abstract socket'),
  ...calls('shmget, msgget, semget, memfd_create, personality'),
  ...calls('io_uring_setup', { kernelMayRefuse: true }),
];

export function parseReport(said: string): Record<string, 'succeeds' | 'fails'> {
  const lines = said.trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', errno] = line.split('=');
      return [name, errno === '0' ? 'succeeds' : 'fails'];
    }),
  );
}
