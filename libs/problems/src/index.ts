export { problemCatalogue, type ProblemCode } from './catalogue';
export {
  invalid,
  Problem,
  toProblem,
  type EndedWork,
  type Failure,
  type FailurePhase,
  type ProblemErrors,
} from './problem';
