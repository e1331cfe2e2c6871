import { useQuery } from '@tanstack/react-query';
import { get } from '../api';
import type { Application, Page } from '../api-types';
import { shownAsCodePoints } from '../foreign-text';
import { cutMiddle } from '../format';
import { Choice } from '../parts/fields';
import { useMay } from '../session';

/** The application that code acts as: `svc` may do what it may do. */
export function ApplicationChoice({
  value,
  change,
  fault,
  isReadOnly,
}: {
  value: string | null | undefined;
  change: (id: string | null) => void;
  fault?: string | undefined;
  isReadOnly: boolean;
}) {
  const mayRead = useMay('application:read');
  const applications = useQuery({
    queryKey: ['applications', 'for code'],
    queryFn: ({ signal }) => get<Page<Application>>('/applications?size=100', signal),
    enabled: mayRead,
  });
  const known = (applications.data?.data ?? [])
    .filter(({ type }) => type !== 'management')
    .map(
      ({ id, name }) =>
        [
          id,
          shownAsCodePoints(name)
            .map(({ text }) => text)
            .join(''),
        ] as const,
    );
  const isKnown = !value || known.some(([id]) => id === value);
  return (
    <Choice
      label="Acts as application"
      hint="svc may do what this application may do."
      value={value ?? ''}
      fault={fault}
      isReadOnly={isReadOnly}
      choices={[
        ['', 'none: svc is null'],
        ...known,
        ...(isKnown ? [] : [[value, cutMiddle(value)] as const]),
      ]}
      change={(id) => change(id || null)}
    />
  );
}
