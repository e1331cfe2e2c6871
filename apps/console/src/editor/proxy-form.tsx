import type { ReactNode } from 'react';
import type { ProxyResource, Transform } from '../api-types';
import { Id } from '../parts/facts';
import { Choice, LinesField, TextArea, TextField, Tick } from '../parts/fields';
import { Section } from '../parts/screen';
import { ApplicationChoice } from './application-choice';
import { Configuration } from './configuration';
import type { Edited } from './draft';
import { faultAt } from './faults';
import { ForwardMatch } from './forward-match';
import { Steps, TransformEditor } from './transform-editor';

interface Shown {
  edited: Edited<ProxyResource>;
  isReadOnly: boolean;
}

/** All that a proxy is made of. */
export function ProxyForm({
  edited,
  isReadOnly,
  id,
  set,
  failureOf,
  line,
}: Shown & {
  /** Of one that is there. */
  id?: string;
  /** The names of the configuration that have a value. */
  set: readonly string[];
  /** Of a dry run: its place is marked. */
  failureOf?: (which: 'request' | 'response') => Error | undefined;
  line?: number | undefined;
}) {
  const { now, changes, change, error } = edited;
  const typed = (changes.configuration ?? {}) as Record<string, unknown>;
  return (
    <>
      <Destination edited={edited} isReadOnly={isReadOnly}>
        {id !== undefined && (
          <div className="field">
            <span>Id</span>
            <Id value={id} what="proxy id" />
          </div>
        )}
      </Destination>
      {(['request', 'response'] as const).map((which) => (
        <TransformEditor
          key={which}
          which={which}
          value={now[`${which}_transform`]}
          change={(transform: Transform | null) => change(`${which}_transform`, transform)}
          error={error ?? failureOf?.(which)}
          configuration={[...set, ...Object.keys(typed)]}
          isReadOnly={isReadOnly}
          line={line}
        />
      ))}
      <Section title="Steps without code">
        <div className="panel">
          <Steps
            label="Steps of the request (JSON)"
            value={now.request_transforms}
            isReadOnly={isReadOnly}
            change={(steps) => change('request_transforms', steps)}
          />
          <Steps
            label="Steps of the answer (JSON)"
            value={now.response_transforms}
            isReadOnly={isReadOnly}
            change={(steps) => change('response_transforms', steps)}
          />
        </div>
      </Section>
      <Section title="Configuration">
        <Configuration
          names={set}
          set={set}
          typed={typed}
          change={(next) => change('configuration', next)}
          faultOf={(name) => faultAt(error, `configuration.${name}`)}
          isReadOnly={isReadOnly}
          isFree
        />
      </Section>
      <ForwardMatch edited={edited} isReadOnly={isReadOnly} />
      <Tls edited={edited} isReadOnly={isReadOnly} />
    </>
  );
}

function Destination({
  edited: { now, change, error },
  isReadOnly,
  children,
}: Shown & { children: ReactNode }) {
  return (
    <Section title="Destination">
      <div className="panel">
        <div className="fields">
          <TextField
            label="Name"
            value={now.name}
            isReadOnly={isReadOnly}
            change={(name) => change('name', name)}
            fault={faultAt(error, 'name')}
          />
          <TextField
            label="URL"
            value={now.destination_url}
            isReadOnly={isReadOnly}
            change={(url) => change('destination_url', url)}
            fault={faultAt(error, 'destination_url')}
          />
          <TextField
            label="Waits for an answer (ms)"
            type="number"
            hint="30,000 if empty."
            value={String(now.timeout_ms ?? '')}
            isReadOnly={isReadOnly}
            change={(ms) => change('timeout_ms', ms === '' ? null : Number(ms))}
            fault={faultAt(error, 'timeout_ms')}
          />
          <ApplicationChoice
            value={now.application_id}
            isReadOnly={isReadOnly}
            change={(application) => change('application_id', application)}
            fault={faultAt(error, 'application_id', 'application.id')}
          />
          <Choice
            label="Isolation of its code"
            value={now.isolation}
            isReadOnly={isReadOnly}
            choices={[
              ['warm', 'warm: a process serves several calls'],
              ['run', 'run: each call has a process of its own'],
            ]}
            change={(isolation) => change('isolation', isolation)}
            fault={faultAt(error, 'isolation')}
          />
          {children}
        </div>
        <Tick
          label="Calls need an API key"
          value={now.require_auth}
          isReadOnly={isReadOnly}
          change={(is) => change('require_auth', is)}
        />
        <Tick
          label="Expressions are replaced by data"
          value={now.detokenize}
          isReadOnly={isReadOnly}
          change={(is) => change('detokenize', is)}
        />
        <Tick
          label="Data that was put in never comes back: answers show its expression"
          value={now.scrub ?? false}
          isReadOnly={isReadOnly}
          change={(is) => change('scrub', is)}
        />
        {(!now.require_auth || (now.allowed_origins ?? []).length > 0) && (
          <LinesField
            label="Pages of these origins may call it (one a line)"
            hint="Empty: the destination decides."
            value={now.allowed_origins ?? []}
            isReadOnly={isReadOnly}
            change={(origins) => change('allowed_origins', origins)}
            fault={faultAt(error, 'allowed_origins')}
          />
        )}
      </div>
    </Section>
  );
}

/** What the destination is told, and what it is believed. The private key goes in, and never out. */
function Tls({ edited: { now, changes, change, error }, isReadOnly }: Shown) {
  const client = now.client_certificate;
  const isNew = changes.client_certificate !== undefined;
  return (
    <Section title="TLS">
      <div className="panel">
        <TextArea
          label="Certificate authority (PEM)"
          rows={3}
          hint="Empty: the public ones. It takes the place of them."
          value={now.certificate_authority ?? ''}
          isReadOnly={isReadOnly}
          change={(pem) => change('certificate_authority', pem || null)}
          fault={faultAt(error, 'certificate_authority')}
        />
        <TextArea
          label="Client certificate (PEM)"
          rows={3}
          hint="Empty: none. Intermediate certificates may follow it."
          value={client?.certificate ?? ''}
          isReadOnly={isReadOnly}
          change={(certificate) =>
            change('client_certificate', certificate ? { ...client, certificate } : null)
          }
          fault={faultAt(error, 'client_certificate', 'client_certificate.certificate')}
        />
        {client && !isReadOnly && (
          <TextArea
            label="Its private key (PEM)"
            rows={3}
            hint={isNew ? 'A new certificate needs its own.' : 'It is set, and never shown.'}
            value={client.private_key ?? ''}
            change={(private_key) => change('client_certificate', { ...client, private_key })}
            fault={faultAt(error, 'client_certificate.private_key')}
          />
        )}
      </div>
    </Section>
  );
}
