import type { HttpServer } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Response } from 'express';
import type { OpenApiDocument } from './document';
import { documentationPage, pagePolicy } from './documentation-page';

/** Serves page and document beside the controllers, so that neither asks for a key. */
export function serveDocs(app: NestExpressApplication, document: OpenApiDocument): void {
  const page = documentationPage(document);
  const http: HttpServer = app.getHttpAdapter();
  http.get('/docs', (_: unknown, response: Response) => {
    response.setHeader('content-security-policy', pagePolicy).type('html').send(page);
  });
  http.get('/docs/openapi.json', (_: unknown, response: Response) => {
    response.json(document);
  });
}
