export {};

/** What the samples of docs/guide/client.md name without making it. */
declare global {
  const glovebox: import('@glovebox/client').Glovebox;
  const reactorId: string;
  const proxyKey: string;
  const body: string;
  const secret: string;
  const request: { readonly headers: Record<string, string> };
  function later(): void;
  function show(errors: object): void;
  function ask(isTimeout: boolean): void;
}
