import { text, uuid, whole } from './schema';

/** Query parameters of every list. */
export const page = {
  page: { description: 'Which page, from 1.', schema: { ...whole, minimum: 1, default: 1 } },
  size: {
    description: 'Entries of a page.',
    schema: { ...whole, minimum: 1, maximum: 100, default: 20 },
  },
};

/** Of lists of what has a UUID and a name. */
export const byIdAndName = {
  ...page,
  id: { description: 'Only these. Repeat it for several.', schema: uuid, many: true },
  name: {
    description: 'Only those of this name, in any case; `*` stands for anything.',
    schema: { ...text, maxLength: 200 },
  },
};
