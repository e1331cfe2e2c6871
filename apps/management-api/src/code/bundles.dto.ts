import { IsString } from 'class-validator';
import { WithoutNul } from '../validation/decorators';

/** Too long is 413, as for any body. */
export class UploadCode {
  @IsString()
  @WithoutNul()
  code!: string;
}

export class UploadMap {
  /** The JSON of a source map, version 3. */
  @IsString()
  map!: string;
}
