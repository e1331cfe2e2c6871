export { problemCatalogue, type ProblemCode } from './catalogue';
export {
  invalid,
  Problem,
  toProblem,
  type ProblemBody,
  type ProblemErrors,
  type ProblemOptions,
} from './problem';
