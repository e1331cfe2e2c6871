export {
  capturePlace,
  captureBytesMax,
  capturesMax,
  captureHours,
  keepCapture,
  type CapturedCall,
} from './keep-capture';
export {
  dropCaptures,
  findCapture,
  findCaptureIds,
  capturesById,
  type CaptureRow,
} from './find-captures';
export type { CapturedAnswer, CapturedBody, CapturedMessages, CapturedRequest } from './messages';
