/**
 * The version of this release as a reader. What is stored says which version a reader needs to
 * understand all of it (docs/adr/0083), and a reader below that refuses it. Raise this once in a
 * release that adds anything to what is stored: 1 is before the first release, 2 is 0.1.0.
 */
export const readerVersion = 3;
