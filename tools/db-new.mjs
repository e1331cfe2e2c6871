// npm run db:new -- NAME
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { script, Trouble } from './lib/progress.mjs';
import { repoRoot } from './lib/repo.mjs';

const folder = join(repoRoot, 'apps', 'management-api', 'src', 'migrations');

const help = `
npm run db:new -- NAME

Writes the skeleton of the next migration, apps/management-api/src/migrations/NNNN-NAME.ts.
NAME says what it does, in kebab-case: add-token-expiry. Expand, then contract: CONTRIBUTING.md, "Migrations".`;

await script(help, ([name = '']) => {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new Trouble(`Give a name in kebab-case.\n${help}`);
  }
  mkdirSync(folder, { recursive: true });
  const number = nextNumber();
  const file = join(folder, `${number}-${name}.ts`);
  writeFileSync(file, skeleton(classNameOf(name), number), { flag: 'wx' });
  console.log(`Wrote ${file}. Add its class to apps/management-api/src/database/data-source.ts
and its name to libs/stores/src/known-migrations.ts.`);
});

function nextNumber() {
  const numbers = readdirSync(folder).map((file) => Number(/^(\d{4})-/.exec(file)?.[1] ?? 0));
  return String(Math.max(0, ...numbers) + 1).padStart(4, '0');
}

/** @param {string} name */
function classNameOf(name) {
  return name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter) => letter.toUpperCase());
}

/**
 * @param {string} className
 * @param {string} number
 */
function skeleton(className, number) {
  // TypeORM sorts migrations by the 13 digits at the end of their names.
  const order = number.padStart(13, '0');
  return `import type { QueryRunner } from 'typeorm';
import type { Migration } from './migration';

// Expand or contract, never both: the code before this migration is at work while it goes up. It
// may add tables, functions, and columns that are null or have a default. What it takes away, that
// code no longer uses: name it in \`unused\` of database/spec-walk.ts. Indexes of large tables are
// built by build-index.ts. Replace this comment by what the migration does.
export class ${className}${order} implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(\`\`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(\`\`);
  }
}
`;
}
