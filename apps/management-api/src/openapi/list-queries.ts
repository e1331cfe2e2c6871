import { listIdsMax } from '../lists/listing';
import { pageEntriesMax } from './answer-bounds';
import { instant, text, uuid, whole } from './schema';

/** Query parameters of every list. */
export const page = {
  page: {
    description: 'Number of the page, from 1.',
    schema: { ...whole, minimum: 1, default: 1 },
  },
  size: {
    description: 'Entries on a page.',
    schema: { ...whole, minimum: 1, maximum: pageEntriesMax, default: 20 },
  },
  after: {
    description: 'The `after` of the page before, in place of `page`.',
    schema: text,
  },
};

/** Query parameters of a list that a cursor walks in the order of time; `happened`: to each entry. */
export const byTime = (happened: string) => ({
  size: page.size,
  after: { description: 'The cursor of the answer before.', schema: uuid },
  from: { description: `Not ${happened} before this time.`, schema: instant },
  to: { description: `Not ${happened} after this time.`, schema: instant },
});

/** Query parameters of lists whose entries have a UUID and a name. */
export const byIdAndName = {
  ...page,
  id: {
    description: 'Only entries with this id. Repeat it for several.',
    schema: uuid,
    many: listIdsMax,
  },
  name: {
    description:
      'Only entries with this whole name, in any case. `*` stands for any characters: `orders*` ' +
      'finds `Orders EU`, `orders` does not.',
    schema: { ...text, maxLength: 200 },
  },
  slug: {
    description: 'Only the entry with this slug.',
    schema: { ...text, maxLength: 64 },
  },
};
