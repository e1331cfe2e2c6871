/* The end of a start that does not hold: status 126, and one line on stderr. */
#ifndef REFUSE_H
#define REFUSE_H

#include "bare-linux.h"

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

#endif
