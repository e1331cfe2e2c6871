import type { ProxyResource } from '../api-types';
import { LinesField, Tick } from '../parts/fields';
import { Section } from '../parts/screen';
import type { Edited } from './draft';
import { faultAt } from './faults';
import { ForwardAuthority } from './forward-authority';

/** The requests of forward mode that a proxy handles. */
export function ForwardMatch({
  edited: { now, change, error },
  isReadOnly,
}: {
  edited: Edited<ProxyResource>;
  isReadOnly: boolean;
}) {
  const { hosts = [], methods, paths } = now.match ?? {};
  const put = (changed: { hosts?: string[]; methods?: string[]; paths?: string[] }): void => {
    const next = { hosts, methods: methods ?? [], paths: paths ?? [], ...changed };
    if (next.hosts.length > 0) {
      // A member that is null is taken away.
      const [sentMethods, sentPaths] = [next.methods, next.paths].map((list) =>
        list.length > 0 ? list : null,
      );
      return change('match', { hosts: next.hosts, methods: sentMethods, paths: sentPaths });
    }
    change('match', null);
    change('forward_to', null);
  };
  return (
    <Section title="Forward mode">
      <div className="panel">
        <LinesField
          label="Requests to these hosts go through it (one a line)"
          hint="api.example.com, *.example.com, api.example.com:8443. Empty: none."
          value={hosts}
          isReadOnly={isReadOnly}
          change={(list) => put({ hosts: list })}
          fault={faultAt(error, 'match', 'match.hosts')}
        />
        {hosts.length > 0 && (
          <>
            <LinesField
              label="Of these methods (one a line)"
              hint="Empty: all."
              value={methods ?? []}
              isReadOnly={isReadOnly}
              change={(list) => put({ methods: list })}
              fault={faultAt(error, 'match.methods')}
            />
            <LinesField
              label="Below these paths (one a line)"
              hint="Empty: all."
              value={paths ?? []}
              isReadOnly={isReadOnly}
              change={(list) => put({ paths: list })}
              fault={faultAt(error, 'match.paths')}
            />
            <Tick
              label="They go to the host that they name, not to the URL above"
              value={now.forward_to === 'request'}
              isReadOnly={isReadOnly}
              change={(is) => change('forward_to', is ? 'request' : null)}
            />
            <ForwardAuthority />
          </>
        )}
      </div>
    </Section>
  );
}
