/** Known reasons why a goal is missed; told beside the rows that miss it, and there alone. */
export const heldBack = {
  P18: "the profile is flat; with code, a fifth of the gateway's time are writes to the runner's socket",
};
