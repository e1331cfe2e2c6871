import { Link } from '@tanstack/react-router';
import { Screen } from '../parts/screen';

export function NotThere() {
  return (
    <Screen title="There is no such page">
      <p>
        <Link to="/">To the overview</Link>
      </p>
    </Screen>
  );
}
