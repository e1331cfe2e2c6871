// npm run db:migrate [-- up|down|status]
import { migrate } from './lib/database.mjs';
import { devDatabase } from './lib/dev-database.mjs';
import { script, Trouble } from './lib/progress.mjs';

const directions = ['up', 'down', 'status'];

const help = `
npm run db:migrate [-- up|down|status]

Brings the database of npm start (or of DATABASE_URL, an administrator's URL) to the newest schema.

  up       every migration that is missing (default)
  down     takes the last one back
  status   lists them`;

await script(help, async ([direction = 'up']) => {
  if (!directions.includes(direction)) {
    throw new Trouble(`"${direction}" is none of ${directions.join(', ')}.`);
  }
  const { urls } = await devDatabase(process.env);
  const output = await migrate(urls.owner, direction);
  console.log(output.trim() || 'Done.');
});
