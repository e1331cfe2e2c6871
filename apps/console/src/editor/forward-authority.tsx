import { useMutation } from '@tanstack/react-query';
import { get } from '../api';
import { ProblemBox } from '../parts/states';
import { useMay } from '../session';

/** The certificates that clients of forward mode have to trust. */
export function ForwardAuthority() {
  const mayRead = useMay('tenant:read');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => get<{ certificates: string }>('/tenants/self/forward-ca'),
    onSuccess: ({ certificates }) => save(certificates, 'glovebox-forward-ca.pem'),
  });
  if (!mayRead) return null;
  return (
    <>
      <button type="button" disabled={isPending} onClick={() => mutate()}>
        Download the certificate authority
      </button>
      <p className="quiet">Clients of forward mode have to trust it.</p>
      <ProblemBox error={error} />
    </>
  );
}

function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/x-pem-file' }));
  const link = document.createElement('a');
  Object.assign(link, { href: url, download: name }).click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
