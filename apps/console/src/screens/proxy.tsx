import { useState } from 'react';
import type { Answer } from '../api';
import type { ProxyResource } from '../api-types';
import { useDraft } from '../editor/draft';
import { DryRunProxy } from '../editor/dry-run-proxy';
import { EditedScreen } from '../editor/edited-screen';
import { ProxyForm } from '../editor/proxy-form';
import { SaveBar } from '../editor/save-bar';
import { useFilters } from '../parts/filters';
import { Section } from '../parts/screen';
import { ProblemBox } from '../parts/states';
import { useMay } from '../session';
import { Captures } from './captures';

export const ProxyScreen = () => (
  <EditedScreen<ProxyResource>
    title="Proxy"
    path="/proxies"
    list="/proxies"
    filter="proxy_id"
    hasRuns
    removal={{
      permission: 'proxy:delete',
      warning: 'Its key opens nothing any more, and calls with it fail at once.',
    }}
  >
    {(first) => <EditedProxy key={first.body.id} first={first} />}
  </EditedScreen>
);

/** What a proxy is made of, without what only the API sets. */
const tried = [
  'name',
  'destination_url',
  'require_auth',
  'detokenize',
  'application_id',
  'request_transform',
  'response_transform',
  'request_transforms',
  'response_transforms',
] as const;

function EditedProxy({ first }: { first: Answer<ProxyResource> }) {
  const [{ line }] = useFilters();
  const mayEdit = useMay('proxy:update');
  const { id } = first.body;
  const draft = useDraft<ProxyResource>(`/proxies/${id}`, first);
  const { now, base, save } = draft;
  const [dry, setDry] = useState<{ at: string | undefined; error: Error | undefined }>();
  const body = () => ({
    proxy_id: id,
    proxy: Object.fromEntries(
      tried.flatMap((member) => {
        const value = now[member] ?? undefined;
        return value === undefined ? [] : [[member, value] as const];
      }),
    ),
  });
  return (
    <>
      <ProxyForm
        edited={draft}
        isReadOnly={!mayEdit}
        id={id}
        set={base.configuration_set}
        failureOf={(which) =>
          dry?.at === (which === 'request' ? 'request' : 'answer') ? dry.error : undefined
        }
        line={line ? Number(line) : undefined}
      />
      <ProblemBox error={save.error} />
      <SaveBar draft={draft} what="proxy" mayEdit={mayEdit} />
      {mayEdit && (
        <Section title="Dry run">
          <DryRunProxy body={body} failed={(at, error) => setDry({ at, error })} />
        </Section>
      )}
      {mayEdit && <Captures proxyId={id} />}
    </>
  );
}
