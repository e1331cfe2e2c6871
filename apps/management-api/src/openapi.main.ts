import { controllers } from './app.module';
import { openApiDocument } from './openapi/document';

process.stdout.write(JSON.stringify(openApiDocument(controllers)));
