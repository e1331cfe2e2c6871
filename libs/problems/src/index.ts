export { problemCatalogue, type ProblemCode } from './catalogue';
export { invalid, Problem, toProblem, type ProblemErrors } from './problem';
