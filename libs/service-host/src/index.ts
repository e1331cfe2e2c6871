export { closeServer, watchServer } from './close-server';
export {
  ConfigError,
  flag,
  integer,
  list,
  loadConfig,
  optionalText,
  optionalUrl,
  port,
  requiredList,
  requiredSecret,
  requiredText,
  stopDelay,
  text,
  type Setting,
} from './config';
export { every, type Repeated } from './every';
export { createLogger, describeError, type Logger } from './logger';
export { Counter, createRegistry, Gauge, Histogram, type Registry } from './metrics';
export { startOpsServer, type OpsServer, type Readiness } from './ops-server';
export { Secret } from './secret';
export { runService, stopService, type Service } from './service';
