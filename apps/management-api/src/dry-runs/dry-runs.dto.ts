import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { invalid } from '@glovebox/problems';
import type { Runtime } from '@glovebox/sandbox';
import { isJsonObject } from '@glovebox/wire';
import { ActingInput } from '../applications/applications.dto';
import { configurationBytesMax } from '../code/configuration';
import { bundleMax, Code, CodeSha256, RuntimeName } from '../code/code-members';
import { ProxyInput, TransformInput } from '../proxies/proxies.dto';
import {
  ConfigurationInput,
  ParameterInput,
  parameterNameMax,
  parametersMax,
} from '../reactor-formulas/reactor-formulas.dto';
import { IsAnyJson, IsStringMap, NoneWithout, TextLength } from '../validation/decorators';

/** A formula by its id, or unsaved; with both, the stored one with these changes. */
export class RehearsedFormula {
  @IsOptional()
  @IsUUID('loose')
  id?: string;

  @Code(bundleMax)
  code?: string;

  @CodeSha256()
  code_sha256?: string;

  @RuntimeName()
  runtime?: Runtime;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(parametersMax)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ConfigurationInput)
  configuration?: ConfigurationInput[];

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(parametersMax)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ParameterInput)
  request_parameters?: ParameterInput[];
}

export class RehearsedReactor extends ActingInput {
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => RehearsedFormula)
  formula?: RehearsedFormula;

  @IsOptional()
  @IsStringMap({ scalars: true, nameMax: parameterNameMax, bytesMax: configurationBytesMax })
  configuration?: Record<string, string | number | boolean>;
}

export class RehearseReactor {
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => RehearsedReactor)
  reactor?: RehearsedReactor;

  /** What the reactor leaves out is taken from this one. */
  @IsOptional()
  @IsUUID('loose')
  reactor_id?: string;

  @IsOptional()
  @IsAnyJson()
  args?: unknown;

  @IsOptional()
  @IsBoolean()
  network?: boolean;

  @IsOptional()
  @IsBoolean()
  svc?: boolean;

  @IsOptional()
  @IsUUID('loose')
  inspect?: string;
}

/** A bundle need not be uploaded to be tried. */
class RehearsedTransform extends TransformInput {
  @Code(bundleMax)
  override code?: string;
}

/** Nothing leaves, so that it needs neither a name nor a destination. */
export class RehearsedProxy extends ProxyInput {
  @IsOptional()
  @NoneWithout('code', 'code_sha256')
  @IsObject()
  @ValidateNested()
  @Type(() => RehearsedTransform)
  override request_transform?: RehearsedTransform;

  @IsOptional()
  @NoneWithout('code', 'code_sha256')
  @IsObject()
  @ValidateNested()
  @Type(() => RehearsedTransform)
  override response_transform?: RehearsedTransform;

  @IsOptional()
  override name = 'dry run';

  @IsOptional()
  override destination_url = 'https://destination.example';
}

const bodyMax = 1024 * 1024;

class TextMessage {
  /** A text, or a list of texts, by name. */
  @IsOptional()
  @IsAnyJson()
  headers?: unknown;

  @IsOptional()
  @IsString()
  @TextLength(0, bodyMax)
  body?: string;
}

export class RehearsedRequest extends TextMessage {
  @IsOptional()
  @Matches(/^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/, {
    message: 'must be a method that is forwarded',
  })
  method?: string;

  /** Behind `/proxy`. */
  @IsOptional()
  @Matches(/^(?:\/[!-"$->@-~]*)?$/, { message: 'must begin with / and be a plain path' })
  @TextLength(0, 8_192)
  path?: string;

  @IsOptional()
  @Matches(/^[!-"$-~]*$/, { message: 'must be a plain query' })
  @TextLength(0, 8_192)
  query?: string;
}

export class RehearsedAnswer extends TextMessage {
  @IsOptional()
  @IsInt()
  @Min(200)
  @Max(599)
  status?: number;
}

export class RehearseProxy {
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => RehearsedProxy)
  proxy?: RehearsedProxy;

  /** Its configuration is used where the proxy leaves it out. */
  @IsOptional()
  @IsUUID('loose')
  proxy_id?: string;

  @IsObject()
  @ValidateNested()
  @Type(() => RehearsedRequest)
  request!: RehearsedRequest;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => RehearsedAnswer)
  answer?: RehearsedAnswer;

  @IsOptional()
  @IsUUID('loose')
  inspect?: string;
}

export const headerLinesMax = 256;
const headerBytesMax = 32 * 1024;
const nameForm = /^[!#$%&'*+.^`|~\w-]+$/;
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers as name, value, name, value… */
export function toHeaderLines(headers: unknown, path: string): string[] {
  const refuse = (what: string): never => {
    throw invalid({ [path]: [what] });
  };
  if (headers === undefined || headers === null) return [];
  if (!isJsonObject(headers)) return refuse('must be an object');
  const lines: string[] = [];
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof one !== 'string') return refuse('must have only texts and lists of texts');
      if (!nameForm.test(name) || !valueForm.test(one)) {
        return refuse('must have only names and values that can be sent');
      }
      lines.push(name, one);
      bytes += name.length + one.length;
    }
    if (lines.length > 2 * headerLinesMax || bytes > headerBytesMax) {
      return refuse(`must have at most ${headerLinesMax} lines of ${headerBytesMax} bytes`);
    }
  }
  return lines;
}
