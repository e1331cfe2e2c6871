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
export { kinds, type ServiceHeaderName } from './header-kinds';
export { isInstant } from './instant';
export { jsonDepthMax, jsonValuesMax, type FreeMembers } from './json-tally';
export { createLogger, describeError, type Logger } from './logger';
export { mergePatch } from './merge-patch';
export { Counter, createRegistry, Gauge, Histogram, type Registry } from './metrics';
export { startOpsServer, type OpsServer, type Readiness } from './ops-server';
export { Collected, readAtMost, readBody, type Reading } from './read-body';
export { readOn } from './read-on';
export { hopByHopHeaders, isReservedHeader } from './reserved-headers';
export { Secret } from './secret';
export { ServiceHeaders, traceHeader } from './service-headers';
export { runService, stopService, type Service } from './service';
export { decodeUtf8, exactNumber, parseStrictJson, StrictJson } from './strict-json';
export { formatTraceparent, newSpanId, parseTraceparent, type Traceparent } from './traceparent';
