import { useNavigate } from '@tanstack/react-router';
import type { ProxyResource } from '../api-types';
import { CreatingScreen } from '../editor/creating-screen';
import { useCreation } from '../editor/draft';
import { ProxyForm } from '../editor/proxy-form';
import { CreateBar } from '../editor/save-bar';
import { SecretOnce } from '../parts/secret';

export const NewProxyScreen = () => (
  <CreatingScreen
    title="New proxy"
    about="A stored destination. Calls name it by its key, and get data put in on the way."
    permission="proxy:create"
  >
    <NewProxy />
  </CreatingScreen>
);

const empty = {
  name: '',
  destination_url: '',
  require_auth: true,
  detokenize: true,
  isolation: 'warm',
} as ProxyResource;

function NewProxy() {
  const navigate = useNavigate();
  const creation = useCreation<ProxyResource>('/proxies', empty);
  const { make } = creation;
  return (
    <>
      <ProxyForm edited={creation} isReadOnly={false} set={[]} />
      <CreateBar make={make} what="proxy" />
      {make.data && (
        <SecretOnce
          title="The proxy is made"
          name="Key of the proxy"
          secret={make.data.key ?? ''}
          done={() => void navigate({ to: `/proxies/${make.data.id}`, ignoreBlocker: true })}
        >
          <p>
            Calls name the proxy by this key, in the header <code>SVC-PROXY-KEY</code>.
          </p>
        </SecretOnce>
      )}
    </>
  );
}
