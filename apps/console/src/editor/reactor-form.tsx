import type { ReactNode } from 'react';
import type { Parameter, Reactor } from '../api-types';
import { Id } from '../parts/facts';
import { Choice, TextField } from '../parts/fields';
import { Section } from '../parts/screen';
import { ApplicationChoice } from './application-choice';
import { Configuration } from './configuration';
import type { Edited } from './draft';
import { faultAt } from './faults';

interface Shown {
  edited: Edited<Reactor>;
  isReadOnly: boolean;
}

export function ReactorSettings({
  edited: { now, change, error },
  isReadOnly,
  id,
  children,
}: Shown & { id?: string; children?: ReactNode }) {
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
          {children}
          <Choice
            label="Isolation"
            value={now.isolation}
            isReadOnly={isReadOnly}
            choices={[
              ['warm', 'warm: a process serves several runs'],
              ['run', 'run: each run has a process of its own'],
            ]}
            change={(isolation) => change('isolation', isolation)}
            fault={faultAt(error, 'isolation')}
          />
          <ApplicationChoice
            value={now.application_id}
            isReadOnly={isReadOnly}
            change={(application) => change('application_id', application)}
            fault={faultAt(error, 'application_id', 'application.id')}
          />
          {id !== undefined && (
            <div className="field">
              <span>Id</span>
              <Id value={id} what="reactor id" />
            </div>
          )}
        </div>
      </div>
    </Section>
  );
}

/** The values that its formula declares. */
export function ReactorValues({
  edited: { changes, change, error },
  declared,
  set,
  isReadOnly,
}: Shown & { declared: readonly Parameter[]; set: readonly string[] }) {
  return (
    <Section title="Configuration">
      <Configuration
        names={declared.map(({ name }) => name)}
        set={set}
        typed={(changes.configuration ?? {}) as Record<string, unknown>}
        change={(typed) => change('configuration', typed)}
        faultOf={(name) => faultAt(error, `configuration.${name}`)}
        isReadOnly={isReadOnly}
      />
    </Section>
  );
}
