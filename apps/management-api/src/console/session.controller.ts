import { Controller, Delete, Get, HttpCode, Req } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { AnyCaller } from '../http/check-permission';
import type { ApiRequest } from '../http/request';
import { endSession, noSuchSession, type Session } from './sessions';
import { toSessionResponse, type SessionResponse } from './session.dto';

/** The session of the caller. The listener of the console alone has these paths. */
@Controller('console/session')
export class SessionController {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  @Get()
  @AnyCaller()
  show(@Req() request: ApiRequest): SessionResponse {
    return toSessionResponse(sessionOf(request));
  }

  @Delete()
  @HttpCode(204)
  @AnyCaller()
  end(@Req() request: ApiRequest): Promise<void> {
    return endSession(this.ctx, sessionOf(request), request.traceId);
  }
}

function sessionOf({ session }: ApiRequest): Session {
  if (!session) throw noSuchSession(undefined);
  return session;
}
