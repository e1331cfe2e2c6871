/* The files that a sandbox may read, by Landlock. Constants of our own: headers lag behind. */
#include "refuse.h"

enum {
  FS_EXECUTE = 1 << 0,
  FS_READ_FILE = 1 << 2,
  FS_READ_DIR = 1 << 3,
  FS_ABI_1 = (1 << 13) - 1,
  FS_REFER = 1 << 13,    /* ABI 2 */
  FS_TRUNCATE = 1 << 14, /* ABI 3 */
  FS_IOCTL_DEV = 1 << 15 /* ABI 5 */
};

enum { O_PATH_CLOEXEC = 010000000 | 02000000 };

struct ruleset {
  u64 fs, net, scoped;
};

struct __attribute__((packed)) path_rule {
  u64 allowed;
  int fd;
};

/* `wanted`: the ABI of an older kernel to act like; 0 for all that this kernel has. */
static int make_ruleset(long wanted) {
  long abi = sys(__NR_landlock_create_ruleset, 0, 0, 1, 0, 0);
  must("landlock", abi);
  if (wanted > abi) refuse("a landlock ABI above that of the kernel", 0);
  if (wanted) abi = wanted;
  struct ruleset rules = {FS_ABI_1, 0, 0};
  ulong bytes = 8;
  if (abi >= 2) rules.fs |= FS_REFER;
  if (abi >= 3) rules.fs |= FS_TRUNCATE;
  if (abi >= 5) rules.fs |= FS_IOCTL_DEV;
  if (abi >= 4) rules.net = 3 /* bind and connect TCP */, bytes = 16;
  if (abi >= 6) rules.scoped = 3 /* abstract sockets and signals */, bytes = 24;
  long fd = sys(__NR_landlock_create_ruleset, &rules, bytes, 0, 0, 0);
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
