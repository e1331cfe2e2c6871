import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api';
import type { Rule, Token } from '../api-types';
import { Choice, TextField } from '../parts/fields';
import { Section } from '../parts/screen';
import { ProblemBox } from '../parts/states';
import { Json, Text } from '../parts/text';

interface Decided {
  allowed: boolean;
  transform: 'reveal' | 'mask' | 'redact' | null;
  by: 'rule' | 'permission' | null;
  rule?: Rule;
  container: string;
  reason: string;
  shown?: Token;
}

const asked = ['token:read', 'token:search', 'token:use', 'token:update', 'token:delete'].map(
  (permission) => [permission, permission] as const,
);

/** Whether it may do something with one token, and what it would see. */
export function Decision({ path }: { path: string }) {
  const [token, setToken] = useState('');
  const [permission, setPermission] = useState('token:read');
  const decision = useMutation({
    mutationFn: () =>
      send<Decided>('POST', `${path}/decisions`, { token_id: token.trim(), permission }),
  });
  return (
    <Section title="May it read a token?">
      <form
        className="panel"
        aria-label="Decision"
        onSubmit={(event) => {
          event.preventDefault();
          decision.mutate();
        }}
      >
        <div className="fields">
          <TextField label="Token id" value={token} change={setToken} />
          <Choice label="Permission" value={permission} choices={asked} change={setPermission} />
        </div>
        <div className="row">
          <button type="submit" disabled={decision.isPending || token.trim() === ''}>
            Ask
          </button>
          <span className="quiet">Answered by the code that decides calls.</span>
        </div>
        <div aria-live="polite">
          <ProblemBox error={decision.error} />
          {decision.data && (
            <div className={`notice ${decision.data.allowed ? 'good' : 'bad'}`}>
              <strong>
                {decision.data.allowed ? `Yes${seen[decision.data.transform ?? ''] ?? ''}.` : 'No.'}
              </strong>{' '}
              <Text>{decision.data.reason}</Text>
              {decision.data.shown && (
                <>
                  <p>It would see:</p>
                  <Json value={decision.data.shown} />
                </>
              )}
            </div>
          )}
        </div>
      </form>
    </Section>
  );
}

const seen: Record<string, string> = {
  reveal: ', the data itself',
  mask: ', masked',
  redact: ', without its data',
};
