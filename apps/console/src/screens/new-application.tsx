import { useNavigate } from '@tanstack/react-router';
import type { Application } from '../api-types';
import { ApplicationSettings } from '../editor/application-form';
import { CreatingScreen } from '../editor/creating-screen';
import { useCreation } from '../editor/draft';
import { Rights } from '../editor/rights';
import { CreateBar } from '../editor/save-bar';
import { SecretOnce } from '../parts/secret';

export const NewApplicationScreen = () => (
  <CreatingScreen
    title="New application"
    about="A caller of the API. It gets a first key, and may do what you tick."
    permission="application:create"
  >
    <NewApplication />
  </CreatingScreen>
);

const empty = { name: '', type: 'private', permissions: [], rules: [] } as unknown as Application;

function NewApplication() {
  const navigate = useNavigate();
  const creation = useCreation<Application, Application & { key: string }>('/applications', empty);
  const { make } = creation;
  return (
    <>
      <ApplicationSettings edited={creation} isReadOnly={false} />
      <Rights edited={creation} isReadOnly={false} />
      <CreateBar make={make} what="application" />
      {make.data && (
        <SecretOnce
          title="The application is made"
          name="Key of the application"
          secret={make.data.key}
          done={() => void navigate({ to: `/applications/${make.data.id}`, ignoreBlocker: true })}
        >
          <p>
            It calls with this key, in the header <code>SVC-API-KEY</code>. More keys are made on
            its screen.
          </p>
        </SecretOnce>
      )}
    </>
  );
}
