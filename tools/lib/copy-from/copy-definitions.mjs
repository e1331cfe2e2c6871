import { createHash } from 'node:crypto';
import { refusal } from './api.mjs';
import { definitionsOf } from './read-pages.mjs';
import {
  formulaOfReactor,
  translateApplication,
  translateFormula,
  translateProxy,
  translateReactor,
} from './translate.mjs';

/**
 * @typedef {import('./api.mjs').Api} Api
 * @typedef {import('./api.mjs').Json} Json
 * @typedef {keyof typeof paths} Kind
 */

const paths = /** @type {const} */ ({
  applications: '/applications',
  formulas: '/reactor-formulas',
  reactors: '/reactors',
  proxies: '/proxies',
});

/** What others refer to comes first. */
export const definitionKinds = /** @type {Kind[]} */ (Object.keys(paths));

/**
 * @param {Api} from
 * @param {Api} to
 * @param {readonly Kind[]} kinds
 * @param {import('./report.mjs').Report} report
 */
export async function copyDefinitions(from, to, kinds, report) {
  const copying = new CopyingDefinitions(from, to, report);
  await copying.begin();
  for (const kind of kinds) await copying.copy(kind);
}

class CopyingDefinitions {
  /**
   * What was made here of what, by the end of its slug: so nothing is kept on this machine.
   *
   * @type {Record<Kind, Map<string, string>>}
   */
  #made = { applications: new Map(), formulas: new Map(), reactors: new Map(), proxies: new Map() };
  /** @type {Set<string>} */
  #permissions = new Set();

  /**
   * @param {Api} from
   * @param {Api} to
   * @param {import('./report.mjs').Report} report
   */
  constructor(from, to, report) {
    this.from = from;
    this.to = to;
    this.report = report;
  }

  async begin() {
    for (const kind of definitionKinds) {
      for await (const { id, slug } of definitionsOf(this.to, paths[kind])) {
        const [, end] = /-([0-9a-f]{12})$/.exec(String(slug)) ?? [];
        if (end !== undefined) this.#made[kind].set(end, String(id));
      }
    }
    const { body } = await this.to.get('/permissions');
    for (const { type, application_types: types } of /** @type {Json[]} */ (Object.values(body))) {
      for (const one of /** @type {string[]} */ (types)) this.#permissions.add(`${one} ${type}`);
    }
  }

  /** @param {Kind} kind */
  async copy(kind) {
    // Newer releases of the other API have no formulas.
    if (kind === 'formulas' && (await this.from.get(paths[kind])).status === 404) return;
    for await (const source of definitionsOf(this.from, paths[kind])) {
      if (this.#made[kind].has(endOf(source.id))) this.report.there(kind);
      else await this.#copyOne(kind, source);
    }
  }

  /**
   * @param {Kind} kind
   * @param {Json} source
   */
  async #copyOne(kind, source) {
    const translated = await this.#translated(kind, source);
    if ('why' in translated) return this.report.skipped(kind, source.id, translated.why);
    const id = await this.#make(kind, source, translated.body);
    if (id === undefined) return;
    this.report.copied(kind, source.id, source.name, id);
    for (const note of translated.notes) this.report.note(kind, source.id, note);
  }

  /**
   * @param {Kind} kind
   * @param {Json} source
   * @returns {Promise<import('./translate.mjs').Translated>}
   */
  async #translated(kind, source) {
    if (kind === 'applications') return translateApplication(source, this.#permissions);
    if (kind === 'formulas') return translateFormula(source);
    const application =
      /** @type {Json | null} */ (source.application)?.id ?? source.application_id;
    const acting = application ? this.#made.applications.get(endOf(application)) : undefined;
    if (application && !acting) return { why: `its application ${application} is not here` };
    const references = acting ? { application: { id: acting } } : {};
    if (kind === 'proxies') return translateProxy(source, references);
    const formula = await this.#formulaOf(source);
    if (formula === undefined) return { why: 'its formula is not here' };
    return translateReactor(source, { ...references, formula: { id: formula } });
  }

  /**
   * A reactor that has code of its own gets a formula of its own.
   *
   * @param {Json} reactor
   */
  async #formulaOf(reactor) {
    const formula = /** @type {Json | null} */ (reactor.formula)?.id ?? reactor.id;
    const made = this.#made.formulas.get(endOf(formula));
    if (made !== undefined || formula !== reactor.id) return made;
    const translated = formulaOfReactor(reactor);
    if ('why' in translated) return undefined;
    const id = await this.#make('formulas', reactor, translated.body);
    if (id !== undefined) {
      for (const note of translated.notes) this.report.note('reactors', reactor.id, note);
    }
    return id;
  }

  /**
   * Returns its id, or nothing if it was refused.
   *
   * @param {Kind} kind
   * @param {Json} source
   * @param {Json} body
   */
  async #make(kind, source, body) {
    const slug = slugOf(source);
    const answer = await this.to.post(paths[kind], { ...body, slug });
    const id = answer.status === 201 ? answer.body.id : await this.#idBySlug(kind, slug);
    if (typeof id !== 'string') {
      this.report.skipped(kind, source.id, refusal(answer));
      return undefined;
    }
    this.#made[kind].set(endOf(source.id), id);
    return id;
  }

  /**
   * A POST that was repeated may have made it the first time.
   *
   * @param {Kind} kind
   * @param {string} slug
   */
  async #idBySlug(kind, slug) {
    const { body } = await this.to.get(paths[kind], { slug });
    return /** @type {Json[] | undefined} */ (body.data)?.[0]?.id;
  }
}

/**
 * Tells what was made of which resource, whatever the slug begins with.
 *
 * @param {unknown} id
 */
const endOf = (id) =>
  createHash('sha256').update(String(id).toLowerCase()).digest('hex').slice(0, 12);

/** @param {Json} source */
function slugOf({ id, name }) {
  const words = String(name)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-+|-+$/g, '');
  return `${words || 'copied'}-${endOf(id)}`;
}
