import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { get, send } from '../api';
import type { ApplicationKey } from '../api-types';
import { relativeTime } from '../format';
import { Delete } from '../parts/delete';
import { Id, Time } from '../parts/facts';
import { Section } from '../parts/screen';
import { SecretOnce } from '../parts/secret';
import { Loaded, ProblemBox } from '../parts/states';
import { Table } from '../parts/table';
import { useMay } from '../session';

/** Its keys, by their ids: the text of a key is shown where it is made. */
export function Keys({ path, changed }: { path: string; changed: () => void }) {
  const client = useQueryClient();
  const mayEdit = useMay('application:update');
  const queryKey = ['keys', path];
  const keys = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const answer = await get<ApplicationKey[] | { data: ApplicationKey[] }>(
        `${path}/keys`,
        signal,
      );
      return Array.isArray(answer) ? answer : answer.data;
    },
  });
  const refresh = () => {
    changed();
    return client.invalidateQueries({ queryKey });
  };
  const make = useMutation({
    mutationFn: () => send<{ id: string; key: string }>('POST', `${path}/keys`),
    onSuccess: refresh,
    gcTime: 0,
  });
  return (
    <Section
      title="Keys"
      actions={
        mayEdit && (
          <button type="button" disabled={make.isPending} onClick={() => make.mutate()}>
            Make a key
          </button>
        )
      }
    >
      <ProblemBox error={make.error} />
      {make.data && (
        <SecretOnce
          title="A new key"
          name="Key of the application"
          secret={make.data.key}
          done={() => make.reset()}
        />
      )}
      <Loaded query={keys} rows={2}>
        {(keys) => (
          <Table<ApplicationKey>
            caption="Keys"
            isCaptionHidden
            columns={[
              { head: 'Key', cell: ({ id }) => <Id value={id} what="key id" /> },
              { head: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
              {
                head: 'Last used',
                cell: ({ last_used_at }) =>
                  last_used_at ? (
                    <>
                      <Time at={last_used_at} />{' '}
                      <small className="quiet">{relativeTime(last_used_at)}</small>
                    </>
                  ) : (
                    <span className="quiet">never</span>
                  ),
              },
              ...(mayEdit
                ? [
                    {
                      head: 'Delete',
                      cell: ({ id, last_used_at }: ApplicationKey) => (
                        <Delete
                          what="key"
                          name={id.slice(0, 8)}
                          warning={
                            last_used_at
                              ? `It was used ${relativeTime(last_used_at)}. Callers with it stop at once.`
                              : 'It was never used.'
                          }
                          remove={() => send('DELETE', `${path}/keys/${id}`)}
                          done={() => void refresh()}
                        />
                      ),
                    },
                  ]
                : []),
            ]}
            rows={keys}
            keyOf={({ id }) => id}
            empty="It has no key, so nobody can call with it."
          />
        )}
      </Loaded>
    </Section>
  );
}
