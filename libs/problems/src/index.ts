export { problemCatalogue, type ProblemCode } from './catalogue';
export { didYouMean, isShowableName, lettersBetween, mayBeData, nearestName } from './names';
export {
  applicationGone,
  invalid,
  methodNotAllowed,
  notFound,
  Problem,
  toProblem,
  type EndedWork,
  type Failure,
  type FailurePhase,
  type ProblemErrors,
} from './problem';
