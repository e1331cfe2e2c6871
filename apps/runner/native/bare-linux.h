/* System calls without a libc, for static programs that depend on nothing but Linux. */
#ifndef BARE_LINUX_H
#define BARE_LINUX_H

#include <asm/unistd.h>
#include <linux/audit.h>

#ifndef SOURCE_SHA256
#error "build with native/build.mjs, which passes SOURCE_SHA256"
#endif

typedef unsigned long ulong;
typedef unsigned long long u64;
typedef unsigned int u32;

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

#endif
