/** Stands where code would be that is too large to be shown and edited here. */
export const UploadedCode = ({ sha256 }: { sha256: string | undefined }) => (
  <p className="notice">
    This code was uploaded, as <code>glovebox push</code> does with bundles: it is edited where it
    came from. Its SHA-256 is <code>{sha256}</code>.
  </p>
);
