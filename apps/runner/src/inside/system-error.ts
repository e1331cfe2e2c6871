/** An error as Node makes it of a failed system call. */
export const systemError = (code: string, syscall: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
