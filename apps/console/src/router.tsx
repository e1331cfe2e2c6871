import {
  createRootRoute,
  createRoute,
  createRouter,
  Navigate,
  type RouteComponent,
} from '@tanstack/react-router';
import { Shell } from './shell';
import { ApplicationScreen } from './screens/application';
import { AuditScreen } from './screens/audit';
import { CallScreen } from './screens/call';
import { CallsScreen } from './screens/calls';
import {
  ApplicationsScreen,
  FormulasScreen,
  ProxiesScreen,
  ReactorsScreen,
} from './screens/definitions';
import { CommandLineScreen } from './screens/command-line';
import { DeliveriesScreen } from './screens/deliveries';
import { DeliveryScreen } from './screens/delivery';
import { FormulaScreen } from './screens/formula';
import { NewApplicationScreen } from './screens/new-application';
import { NewFormulaScreen } from './screens/new-formula';
import { NewProxyScreen } from './screens/new-proxy';
import { NewReactorScreen } from './screens/new-reactor';
import { NotThere } from './screens/not-there';
import { OverviewScreen } from './screens/overview';
import { ProxyScreen } from './screens/proxy';
import { ReactorScreen } from './screens/reactor';
import { RunScreen } from './screens/run';
import { RunsScreen } from './screens/runs';
import { TokenScreen } from './screens/token';
import { TokensScreen } from './screens/tokens';

const screens: Record<string, RouteComponent> = {
  '/': OverviewScreen,
  '/calls': CallsScreen,
  '/calls/$id': CallScreen,
  '/runs': RunsScreen,
  '/runs/$id': RunScreen,
  '/deliveries': DeliveriesScreen,
  '/deliveries/$id': DeliveryScreen,
  '/audit': AuditScreen,
  '/tokens': TokensScreen,
  '/tokens/$id': TokenScreen,
  '/reactors': ReactorsScreen,
  '/reactors/new': NewReactorScreen,
  '/reactors/$id': ReactorScreen,
  '/formulas': FormulasScreen,
  '/formulas/new': NewFormulaScreen,
  '/formulas/$id': FormulaScreen,
  '/proxies': ProxiesScreen,
  '/proxies/new': NewProxyScreen,
  '/proxies/$id': ProxyScreen,
  '/applications': ApplicationsScreen,
  '/applications/new': NewApplicationScreen,
  '/applications/$id': ApplicationScreen,
  '/command-line': CommandLineScreen,
  '/sign-in': () => <Navigate to="/" replace />,
};

export function createConsoleRouter() {
  const root = createRootRoute({ component: Shell, notFoundComponent: NotThere });
  const routes = Object.entries(screens).map(([path, component]) =>
    createRoute({ getParentRoute: () => root, path, component }),
  );
  return createRouter({
    routeTree: root.addChildren(routes),
    // Each filter is a plain parameter of the URL.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const query = new URLSearchParams(search as Record<string, string>);
      return query.size > 0 ? `?${query}` : '';
    },
    scrollRestoration: true,
  });
}
