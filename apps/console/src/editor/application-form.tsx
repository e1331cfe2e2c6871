import type { Application } from '../api-types';
import { relativeTime } from '../format';
import { Id } from '../parts/facts';
import { Choice, LinesField, TextField, TimeField } from '../parts/fields';
import { Section } from '../parts/screen';
import type { Edited } from './draft';
import { faultAt } from './faults';

const types = [
  ['private', 'private: a server of yours, with data'],
  ['public', 'public: a page or an app, to store data alone'],
  ['management', 'management: makes and changes resources, and sees no data'],
] as const;

export function ApplicationSettings({
  edited: { now, change, error },
  id,
  isReadOnly,
}: {
  edited: Edited<Application>;
  /** Of one that is there: its type stays. */
  id?: string;
  isReadOnly: boolean;
}) {
  return (
    <Section title="Settings">
      <div className="panel">
        <div className="fields">
          <TextField
            label="Name"
            value={now.name}
            isReadOnly={isReadOnly}
            change={(name) => change('name', name)}
            fault={faultAt(error, 'name')}
          />
          <TimeField
            label="Its keys stop at"
            value={now.expires_at}
            isReadOnly={isReadOnly}
            change={(at) => change('expires_at', at)}
            fault={faultAt(error, 'expires_at')}
            hint={now.expires_at ? relativeTime(now.expires_at) : 'Never, if empty.'}
          />
          {id === undefined ? (
            <Choice
              label="Type"
              value={now.type}
              choices={types}
              change={(type) => {
                change('type', type);
                // Each type may hold others.
                change('permissions', undefined);
                change('rules', undefined);
              }}
              fault={faultAt(error, 'type')}
              hint="It cannot be changed later."
            />
          ) : (
            <>
              <div className="field">
                <span>Type</span>
                <span>{now.type}</span>
              </div>
              <div className="field">
                <span>Id</span>
                <Id value={id} what="application id" />
              </div>
            </>
          )}
        </div>
        {now.type === 'public' && (
          <LinesField
            label="Pages of these origins may use its keys (one a line)"
            hint="Empty: those of any."
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
