import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { get } from './api';
import { Text } from './parts/text';
import { LeaveGuard } from './parts/unsaved';
import { signOut, useSession } from './session';
import { useAway } from './signed-in';

const see = [
  ['/', 'Overview'],
  ['/calls', 'Calls'],
  ['/runs', 'Runs'],
  ['/deliveries', 'Deliveries'],
  ['/audit', 'Audit log'],
  ['/tokens', 'Tokens'],
] as const;
const mend = [
  ['/reactors', 'Reactors'],
  ['/formulas', 'Formulas'],
  ['/proxies', 'Proxies'],
  ['/applications', 'Applications'],
] as const;

export function Shell() {
  const { pathname } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useEffect(() => setOpen(false), [pathname]);
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={() => main.current?.focus()}>
        To the content
      </a>
      <header className="side">
        <p className="brand">Glovebox</p>
        <button
          type="button"
          className="menu"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </button>
        <div id="navigation" className={isOpen ? 'open' : ''}>
          <nav aria-label="Screens">
            <Links title="See" of={see} />
            <Links title="Mend" of={mend} />
          </nav>
          <Person />
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <AwayBanner />
        <Outlet key={pathname} />
        <LeaveGuard />
      </main>
    </div>
  );
}

function Links({ title, of }: { title: string; of: readonly (readonly [string, string])[] }) {
  return (
    <>
      <p className="nav-title">{title}</p>
      <ul>
        {of.map(([to, name]) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function Person() {
  const { person, role, tenant } = useSession();
  // Whatever the API answers, this tab forgets the key and all that it has read.
  const leave = useMutation({ mutationFn: signOut, onSuccess: () => location.assign('/sign-in') });
  return (
    <div className="person">
      <p>
        <Text>{person.name}</Text> <span className="quiet">· {role}</span>
      </p>
      <p className="quiet">
        <Text>{tenant.name}</Text>
      </p>
      <button type="button" disabled={leave.isPending} onClick={() => leave.mutate()}>
        Sign out
      </button>
      {leave.error && (
        <p role="alert" className="quiet">
          You are still signed in: <Text>{leave.error.message}</Text>
        </p>
      )}
    </div>
  );
}

const askAgainMs = 2000;

function AwayBanner() {
  const isAway = useAway();
  const client = useQueryClient();
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(() => {
      void get('/console').then(
        () => client.invalidateQueries(),
        () => undefined,
      );
    }, askAgainMs);
    return () => clearInterval(timer);
  }, [isAway, client]);
  return (
    <div role="status">
      {isAway && (
        <p className="notice warn">
          <strong>The management API is away.</strong> What you typed stays here. This page asks
          again every 2 seconds; what it shows may be out of date.
        </p>
      )}
    </div>
  );
}
