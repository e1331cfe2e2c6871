import helmet from 'helmet';

/**
 * Answers are data: no browser is to render, frame or guess at them. The page of the documentation
 * brings a policy of its own. TLS ends before us, so only the operator can promise HSTS.
 */
export const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' },
});
