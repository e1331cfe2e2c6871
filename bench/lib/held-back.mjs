/** What is known to hold a goal back; told beside the rows that miss it, and there alone. */
export const heldBack = {
  P18: "a fifth of the gateway's time are the writes to the runner's socket, the rest is flat",
};
