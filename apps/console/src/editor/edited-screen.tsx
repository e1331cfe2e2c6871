import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { send, type Answer } from '../api';
import { Delete } from '../parts/delete';
import { Screen } from '../parts/screen';
import { Loaded } from '../parts/states';
import { Text } from '../parts/text';
import { useMay } from '../session';
import { useVersion } from './draft';

/** The screen of one resource, by the id in its path: its name, what else is known of it, its editor. */
export function EditedScreen<Resource extends { id: string; name: string }>({
  title,
  path,
  list,
  filter,
  hasRuns,
  removal,
  more,
  children,
}: {
  title: string;
  /** Of the API. */
  path: string;
  /** The screen that lists it. */
  list: '/reactors' | '/formulas' | '/proxies' | '/applications';
  /** The filter of calls that names it. */
  filter?: string;
  hasRuns?: boolean;
  removal: { permission: string; warning: string };
  more?: (id: string) => ReactNode;
  children: (first: Answer<Resource>) => ReactNode;
}) {
  const { id } = useParams({ strict: false }) as { id: string };
  const url = `${path}/${encodeURIComponent(id)}`;
  const version = useVersion<Resource>(url);
  const navigate = useNavigate();
  const mayDelete = useMay(removal.permission);
  const name = version.data?.body.name;
  return (
    <Screen
      title={title}
      about={name !== undefined && <Text>{name}</Text>}
      actions={
        <>
          {filter !== undefined && (
            <Link to="/calls" search={{ [filter]: id }}>
              Calls
            </Link>
          )}
          {hasRuns && (
            <Link to="/runs" search={{ resource_id: id }}>
              Runs
            </Link>
          )}
          {more?.(id)}
          {mayDelete && name !== undefined && (
            <Delete
              what={title.toLowerCase()}
              name={name}
              warning={removal.warning}
              remove={() => send('DELETE', url)}
              done={() => void navigate({ to: list, ignoreBlocker: true })}
            />
          )}
        </>
      }
    >
      <Loaded query={version} rows={20}>
        {(first) => children(first)}
      </Loaded>
    </Screen>
  );
}
