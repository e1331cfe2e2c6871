/** Entries of a page. */
export const pageEntriesMax = 100;
/** Tokens that one line of a log names: those that one document can make. */
export const usedTokensMax = 1_000;
/** Messages about one member. */
export const messagesMax = 1_000;
/** Lines of the output of a run: those of the code, and two of ours. */
export const linesMax = 202;
/** Names of arguments that a run shows. */
export const argumentNamesMax = 100;
/** Headers of a captured message. */
export const headerLinesMax = 2_000;
