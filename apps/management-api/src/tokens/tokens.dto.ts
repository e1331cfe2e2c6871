import { Instant, Json, StringMap, Text, TextList } from '../validation/fields';

/** The shape alone: what a token may be is for the vault to say. */
export class CreateToken {
  @Text({ optional: true })
  id?: string;

  @Text({ optional: true })
  type?: string;

  @Json()
  data!: unknown;

  @TextList({ optional: true })
  containers?: string[];

  @StringMap({ optional: true })
  metadata?: Record<string, string>;

  @Instant({ optional: true })
  expires_at?: string;
}
