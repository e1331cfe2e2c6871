import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Away, Refused } from './api';
import { createConsoleRouter } from './router';
import { signsInForAnotherTab } from './screens/sign-in';
import { takeFragment } from './session';
import { SignedIn } from './signed-in';

// Before anything else runs: the code of a link must not stand in the address any longer.
const given = takeFragment();

const client = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 2000,
      refetchOnWindowFocus: true,
      retry: (failures, error) =>
        !(error instanceof Refused) && !(error instanceof Away) && failures < 1,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});
const router = createConsoleRouter();
const root = document.getElementById('root');
if (root && !signsInForAnotherTab(given.code)) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <SignedIn given={given}>
          <RouterProvider router={router} />
        </SignedIn>
      </QueryClientProvider>
    </StrictMode>,
  );
}
