export { buildInfo } from './build-info';
export { closeServer, watchServer } from './close-server';
export {
  ConfigError,
  flag,
  integer,
  list,
  loadConfig,
  optionalPort,
  optionalSecret,
  optionalText,
  optionalUrl,
  port,
  requiredSecret,
  requiredText,
  text,
  type Setting,
} from './config';
export { deadlines, type Limited } from './deadlines';
export { runDoctor } from './doctor/doctor';
export { fault, ok, unknown, warning, type Check, type Finding } from './doctor/findings';
export { restoredDatabase } from './doctor/process-check';
export { every, type RepeatedWork } from './every';
export { createLogger, describeError, type Logger } from './logger';
export { Counter, createRegistry, Gauge, Histogram, type Registry } from './metrics';
export { startOpsServer, type Readiness } from './ops-server';
export { readiness, readinessWithinMs, upOrDown } from './readiness';
export { Secret } from './secret';
export { runService, stopService, type Service } from './service';
export { TalliedHistogram } from './tallied-histogram';
export {
  answerSettings,
  destinationSettings,
  egressSettings,
  headerSettings,
  loadStoreConfig,
  moduleSettings,
  pendingSettings,
  postgresSettings,
  processSettings,
  redisSettings,
  runnerSettings,
  foundSettings,
  servingSettings,
  storeSettings,
} from './shared-settings';
