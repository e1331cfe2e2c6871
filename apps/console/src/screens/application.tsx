import type { Answer } from '../api';
import type { Application } from '../api-types';
import { ApplicationSettings } from '../editor/application-form';
import { useDraft } from '../editor/draft';
import { EditedScreen } from '../editor/edited-screen';
import { LostRights, Rights } from '../editor/rights';
import { rightsLost } from '../editor/rights-lost';
import { SaveBar } from '../editor/save-bar';
import { ProblemBox } from '../parts/states';
import { useMay } from '../session';
import { Decision } from './application-decision';
import { Keys } from './application-keys';

export const ApplicationScreen = () => (
  <EditedScreen<Application>
    title="Application"
    path="/applications"
    list="/applications"
    filter="application_id"
    removal={{
      permission: 'application:delete',
      warning: 'All its keys stop at once. The API refuses it while code acts as it.',
    }}
  >
    {(first) => <EditedApplication key={first.body.id} first={first} />}
  </EditedScreen>
);

function EditedApplication({ first }: { first: Answer<Application> }) {
  const path = `/applications/${encodeURIComponent(first.body.id)}`;
  const mayEdit = useMay('application:update');
  const draft = useDraft<Application>(path, first);
  const { now, base, changes, save } = draft;
  const lost = changes.permissions || changes.rules ? rightsLost(base, now) : [];
  return (
    <>
      <ApplicationSettings edited={draft} id={now.id} isReadOnly={!mayEdit} />
      <Rights edited={draft} isReadOnly={!mayEdit} />
      <ProblemBox error={save.error} />
      <SaveBar
        draft={draft}
        what="application"
        mayEdit={mayEdit}
        warning={lost.length > 0 && <LostRights lost={lost} />}
      />
      <Decision path={path} />
      {/* The version counts its keys, which are no members of it. */}
      <Keys path={path} changed={() => void draft.follow()} />
    </>
  );
}
