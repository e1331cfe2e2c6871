/**
 * What Glovebox is asked to make of a resource of the other API.
 *
 * @typedef {import('./api.mjs').Json} Json
 * @typedef {{ readonly body: Json, readonly notes: readonly string[] } | { readonly why: string }} Translated
 */

/** What the other API adds by itself, and nobody has chosen. */
const added = [
  ...['id', 'tenant_id', 'created_by', 'created_at', 'modified_by', 'modified_at', 'slug', 'state'],
  ...['key', 'keys', 'host', 'proxy_host', 'requested', 'last_used_at', 'configuration_set'],
  ...['runtime_end_of_life'],
];

const runtimes = ['node16', 'node20', 'node22', 'node24'];

/**
 * @param {Json} source
 * @param {ReadonlySet<string>} known permissions that there are here, as "type permission"
 * @returns {Translated}
 */
export function translateApplication(source, known) {
  const rules = /** @type {Json[]} */ (source.rules ?? []);
  if (rules.some(({ conditions }) => Array.isArray(conditions) && conditions.length > 0)) {
    return {
      why: 'a rule has conditions, which Glovebox has not: without them it would allow more',
    };
  }
  const dropped = new Set();
  /** @param {unknown} permissions */
  const allowed = (permissions) =>
    /** @type {string[]} */ (permissions ?? []).filter((permission) => {
      const isKnown = known.has(`${source.type} ${permission}`);
      if (!isKnown) dropped.add(permission);
      return isKnown;
    });
  const kept = rules
    .map(({ description, priority, container, transform, permissions }) =>
      given({ description, priority, container, transform, permissions: allowed(permissions) }),
    )
    .filter(({ permissions }) => /** @type {string[]} */ (permissions).length > 0);
  const { name, type, permissions, expires_at, allowed_origins } = source;
  const body = { name, type, permissions: allowed(permissions), rules: kept };
  return {
    body: given({ ...body, expires_at, allowed_origins }),
    notes: [
      ...(dropped.size > 0 ? [`without ${[...dropped].join(', ')}, which Glovebox has not`] : []),
      ...leftOut(source, [...Object.keys(body), 'expires_at', 'allowed_origins']),
    ],
  };
}

/**
 * @param {Json} source
 * @returns {Translated}
 */
export function translateFormula(source) {
  const { name, description, icon, code, configuration, request_parameters, runtime } = source;
  if (typeof code !== 'string' || code === '') {
    return { why: 'it shows no code: it is one of the service itself' };
  }
  const read = { name, description, icon, code, configuration, request_parameters };
  const { runtime: here, notes } = runtimeOf(runtime);
  return {
    body: given({ type: 'private', ...read, runtime: here }),
    notes: [
      ...notes,
      ...codeNotes(code),
      ...leftOut(source, [...Object.keys(read), 'type', 'runtime', 'isolation']),
    ],
  };
}

/**
 * The formula of a reactor that has code of its own.
 *
 * @param {Json} reactor
 */
export function formulaOfReactor({ name, code, configuration, runtime }) {
  const names = Object.keys(/** @type {object} */ (configuration ?? {}));
  const declared = names.map((one) => ({ name: one, type: 'string' }));
  return translateFormula({ name, code, configuration: declared, runtime });
}

/**
 * @param {Json} source
 * @param {Json} references
 * @returns {Translated}
 */
export function translateReactor(source, references) {
  const { name, configuration, isolation } = source;
  const read = ['name', 'configuration', 'isolation', 'application', 'application_id'];
  return {
    body: given({ name, configuration: configuration ?? {}, isolation, ...references }),
    notes: leftOut(source, [...read, 'formula', 'code', 'runtime']),
  };
}

/**
 * @param {Json} source
 * @param {Json} references
 * @returns {Translated}
 */
export function translateProxy(source, references) {
  const { name, destination_url, require_auth, configuration, isolation, allowed_origins } = source;
  const sides = ['request', 'response'].map((side) => sideOf(source, side));
  const members = {
    name,
    destination_url,
    require_auth,
    configuration,
    isolation,
    allowed_origins,
  };
  const { timeout, timeout_ms, disable_detokenization, detokenize } = source;
  const read = ['timeout', 'timeout_ms', 'disable_detokenization', 'detokenize', 'application'];
  return {
    body: given({
      ...members,
      ...references,
      ...Object.assign({}, ...sides.map(({ body }) => body)),
      timeout_ms: timeout_ms ?? (typeof timeout === 'number' ? timeout * 1_000 : undefined),
      detokenize: disable_detokenization === true ? false : detokenize,
    }),
    notes: [
      'its key is a new one: GET /proxies/{id} shows it',
      ...sides.flatMap(({ notes }) => notes),
      ...leftOut(source, [
        ...[...Object.keys(members), ...read, 'application_id'],
        ...['request_transform', 'request_transforms', 'response_transform', 'response_transforms'],
      ]),
    ],
  };
}

/**
 * Code is the transform, and all others are steps.
 *
 * @param {Json} source
 * @param {string} side
 */
function sideOf(source, side) {
  const steps = /** @type {Json[]} */ (source[`${side}_transforms`] ?? []);
  const single = /** @type {Json | null | undefined} */ (source[`${side}_transform`]);
  const codes = steps.filter(({ type }) => type === 'code');
  const [code = single] = codes;
  const others = steps.filter(({ type }) => type !== 'code');
  const options = /** @type {Json} */ (code?.options ?? {});
  const { runtime, notes } = runtimeOf(code?.runtime ?? options.runtime);
  const text = code?.code;
  const isWhole = typeof text === 'string' && text !== '';
  return {
    body: {
      ...(isWhole ? { [`${side}_transform`]: given({ code: text, runtime }) } : {}),
      // More code than one is left as it is: Glovebox refuses it, and says so.
      ...(steps.length > 0 ? { [`${side}_transforms`]: codes.length > 1 ? steps : others } : {}),
    },
    notes: isWhole ? [...notes, ...codeNotes(text)] : [],
  };
}

/** @param {unknown} given */
function runtimeOf(given) {
  const { image = given, dependencies } = /** @type {Json} */ (
    typeof given === 'object' && given !== null ? given : {}
  );
  const packages = Object.keys(/** @type {object} */ (dependencies ?? {}));
  const runtime = runtimes.find((one) => one === image);
  return {
    runtime,
    notes: [
      ...(image && !runtime ? [`its runtime is the usual one, and not ${String(image)}`] : []),
      ...(packages.length > 0 ? [`its packages have to be here: ${packages.join(', ')}`] : []),
    ],
  };
}

/** @param {string} code */
const codeNotes = (code) =>
  /\bbt\b/.test(code) ? ['its code says `bt`: `req.bt` is `req.svc` here'] : [];

/**
 * @param {Json} source
 * @param {readonly string[]} read
 */
function leftOut(source, read) {
  const left = Object.entries(source).filter(
    ([member, value]) => !added.includes(member) && !read.includes(member) && !isNothing(value),
  );
  return left.length > 0 ? [`left out: ${left.map(([member]) => member).join(', ')}`] : [];
}

/** @param {unknown} value */
const isNothing = (value) =>
  value === null ||
  value === undefined ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * Without what has no value.
 *
 * @param {Json} members
 * @returns {Json}
 */
const given = (members) =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  );
