export {
  ConfigError,
  flag,
  integer,
  list,
  loadConfig,
  optionalText,
  port,
  requiredList,
  requiredSecret,
  requiredText,
  text,
  type Setting,
} from './config';
export { isInstant } from './instant';
export { createLogger, describeError, type Logger } from './logger';
export { mergePatch } from './merge-patch';
export { Counter, createRegistry, Gauge, Histogram, type Registry } from './metrics';
export { closeServer, startOpsServer, type OpsServer, type Readiness } from './ops-server';
export { Secret } from './secret';
export { ServiceHeaders, traceHeader, type ServiceHeaderName } from './service-headers';
export { runService, type Service } from './service';
export { decodeUtf8, parseStrictJson, type JsonRules } from './strict-json';
