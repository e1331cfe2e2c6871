import { accessSync, constants, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The programs of a bare Debian: essential packages, apt, Git, Node. No servers and no compilers.
 */
const programs = `
  node npm npx git
  apt apt-cache apt-config apt-get dpkg dpkg-deb dpkg-query dpkg-split gpgv sqv
  sh bash dash [ env which ps unshare hostname ldconfig getconf
  tar gzip gunzip zcat xz sed grep egrep fgrep awk mawk find xargs diff cmp
  arch base64 basename cat chgrp chmod chown chroot cksum comm cp cut date dd df dirname du echo
  expand expr false fold head id install join link ln ls md5sum mkdir mkfifo mknod mktemp mv nice nl
  nohup nproc od paste pathchk printenv printf pwd readlink realpath rm rmdir seq sha1sum sha256sum
  sha512sum shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch tr true
  truncate tsort tty uname unexpand uniq unlink users wc whoami yes`
  .trim()
  .split(/\s+/);

/**
 * Makes `folder` a PATH with the programs of a bare machine alone, so that a test does not depend
 * on what somebody installed here. Without apt the PATH stays as it is: the programs of such a
 * machine are not known, and Redis could not be brought along.
 *
 * @param {string} folder
 * @param {string} path
 */
export function barePath(folder, path) {
  if (!findOn(path, 'apt-get')) return path;
  mkdirSync(folder, { mode: 0o755 });
  for (const name of programs) {
    const found = name === 'node' ? process.execPath : findOn(path, name);
    if (found) symlinkSync(found, join(folder, name));
  }
  return folder;
}

/**
 * @param {string} path
 * @param {string} name
 */
function findOn(path, name) {
  const files = path.split(delimiter).map((folder) => join(folder, name));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
