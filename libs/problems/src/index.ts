export { problemCatalogue, type ProblemCode } from './catalogue';
export { invalid, Problem, toProblem, type EndedWork, type ProblemErrors } from './problem';
