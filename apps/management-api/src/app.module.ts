import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApplicationKeysController } from './applications/application-keys.controller';
import { ApplicationKeysService } from './applications/application-keys.service';
import { ApplicationsController } from './applications/applications.controller';
import { ApplicationsService } from './applications/applications.service';
import { BundlesController } from './code/bundles.controller';
import { BundlesService } from './code/bundles.service';
import { CallsController } from './calls/calls.controller';
import { CallsService } from './calls/calls.service';
import { CapturesController } from './captures/captures.controller';
import { CapturesService } from './captures/captures.service';
import { PeopleController } from './console/people.controller';
import { PeopleService } from './console/people.service';
import { RevealsController } from './console/reveals.controller';
import { SessionController } from './console/session.controller';
import { serveSignIn } from './console/sign-in';
import { provideContext, type ManagementContext } from './context';
import { interceptBodies } from './http/body-interceptors';
import { ChecksGuard } from './http/checks.guard';
import { HttpAdapter } from './http/http-adapter';
import { observe } from './http/observe';
import { ProblemFilter } from './http/problem.filter';
import { BodyMembers } from './openapi/body-members';
import { openApiDocument, type OpenApiDocument } from './openapi/document';
import { serveDocs } from './openapi/serve';
import { DeliveriesController } from './deliveries/deliveries.controller';
import { DeliveriesService } from './deliveries/deliveries.service';
import { DeploymentsController } from './deployments/deployments.controller';
import { DeploymentsService } from './deployments/deployments.service';
import { DryRunsController } from './dry-runs/dry-runs.controller';
import { DryRunsService } from './dry-runs/dry-runs.service';
import { ListenersController } from './listeners/listeners.controller';
import { ListenersService } from './listeners/listeners.service';
import { LogsController } from './logs/logs.controller';
import { LogsService } from './logs/logs.service';
import { OverviewController } from './overview/overview.controller';
import { OverviewService } from './overview/overview.service';
import { PermissionsController } from './permissions/permissions.controller';
import { ProxiesController } from './proxies/proxies.controller';
import { ProxiesService } from './proxies/proxies.service';
import { ReactorFormulasController } from './reactor-formulas/reactor-formulas.controller';
import { ReactorFormulasService } from './reactor-formulas/reactor-formulas.service';
import { ReactorsController } from './reactors/reactors.controller';
import { ReactorsService } from './reactors/reactors.service';
import { ProxyRunsController, ReactorRunsController, RunsController } from './runs/runs.controller';
import { RerunService } from './runs/rerun.service';
import { RunsService } from './runs/runs.service';
import { TenantsController } from './tenants/tenants.controller';
import { TenantsService } from './tenants/tenants.service';
import { TokenizeController } from './tokenize/tokenize.controller';
import { TokensController } from './tokens/tokens.controller';
import { TokensService } from './tokens/tokens.service';
import { BodyPipe } from './validation/body.pipe';

export const controllers: Type[] = [
  ApplicationsController,
  ApplicationKeysController,
  PermissionsController,
  ReactorFormulasController,
  ReactorsController,
  ProxiesController,
  DeploymentsController,
  BundlesController,
  CapturesController,
  OverviewController,
  DryRunsController,
  CallsController,
  RunsController,
  ReactorRunsController,
  ProxyRunsController,
  DeliveriesController,
  ListenersController,
  TenantsController,
  LogsController,
  PeopleController,
  TokensController,
  TokenizeController,
];
const consoleControllers: Type[] = [SessionController, RevealsController];
interceptBodies([...controllers, ...consoleControllers]);

@Module({})
class AppModule {
  static on(ctx: ManagementContext, document: OpenApiDocument): DynamicModule {
    return {
      module: AppModule,
      controllers: [...controllers, ...consoleControllers],
      providers: [
        provideContext(ctx),
        { provide: BodyMembers, useValue: new BodyMembers(document) },
        { provide: APP_GUARD, useClass: ChecksGuard },
        { provide: APP_PIPE, useClass: BodyPipe },
        { provide: APP_FILTER, useValue: new ProblemFilter(ctx.logger) },
        ApplicationsService,
        ApplicationKeysService,
        ReactorFormulasService,
        ReactorsService,
        ProxiesService,
        DeploymentsService,
        BundlesService,
        CapturesService,
        OverviewService,
        DryRunsService,
        CallsService,
        RunsService,
        RerunService,
        DeliveriesService,
        ListenersService,
        TenantsService,
        LogsService,
        PeopleService,
        TokensService,
      ],
    };
  }
}

export async function createApp(ctx: ManagementContext): Promise<NestExpressApplication> {
  const document = openApiDocument(controllers);
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.on(ctx, document),
    new HttpAdapter(ctx),
    {
      // Nest's parser would answer 400 and 413 before the guards run.
      bodyParser: false,
      logger: false,
      abortOnError: false,
    },
  );
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(observe(ctx));
  serveDocs(app, document);
  serveSignIn(app, ctx);
  return app;
}
