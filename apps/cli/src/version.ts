declare const builtVersion: string | undefined;

/** The build puts it in. Specs run without one. */
export const version = typeof builtVersion === 'string' ? builtVersion : '0.0.0';
