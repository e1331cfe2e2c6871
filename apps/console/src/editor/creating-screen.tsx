import type { ReactNode } from 'react';
import { Screen } from '../parts/screen';
import { useMay } from '../session';

/** The screen of a form that makes something. Somebody who may not is told before they type. */
export function CreatingScreen({
  title,
  about,
  permission,
  children,
}: {
  title: string;
  about: ReactNode;
  permission: string;
  children: ReactNode;
}) {
  const may = useMay(permission);
  return (
    <Screen title={title} about={about}>
      {may ? (
        children
      ) : (
        <p className="empty">
          Your role may look, and create nothing here. It would need <code>{permission}</code>.
        </p>
      )}
    </Screen>
  );
}
