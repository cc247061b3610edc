import type { z } from 'zod';
import { KeyRefused } from '../../accounts/refused.js';
import type { Body } from '../../accounts/fields.js';
import type { Caller } from '../../admin/access/authorize.js';
import { rolesFor } from '../../actions/access/roles.js';
import { AdminRefusal, type Answer } from '../../actions/answer.js';
import type { AdminCore } from '../../admin/mount.js';
import { perform } from '../../actions/table/perform.js';
import type { Action } from '../../actions/action.js';
import { ACTIONS } from '../../actions/table/actions.js';
import { searchOf } from '../../pages/components/pager.js';

/** The input of an action. */
interface Question {
  readonly id?: string;
  readonly grant?: string;
  /** Undefined and empty values are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: Body;
  readonly bytes?: AsyncIterable<Buffer>;
}

/** Calls the admin API for a page, without HTTP: with the same routes, roles and history. */
export class AdminApi {
  readonly #core: Pick<AdminCore, 'parts' | 'tokens'>;
  readonly #caller: Caller;
  readonly #actor: string;

  constructor(core: Pick<AdminCore, 'parts' | 'tokens'>, caller: Caller, actor: string) {
    this.#core = core;
    this.#caller = caller;
    this.#actor = actor;
  }

  /** Returns whether the visitor may call this route; pages hide the rest. @param line method and path */
  may(line: string): boolean {
    return rolesFor(routeOf(line).role).includes(this.#caller.role);
  }

  /** Returns the JSON response of a route, checked against `form`. Rejects as the route does. */
  async ask<Form extends z.ZodType>(form: Form, line: string, question: Question = {}): Promise<z.output<Form>> {
    const answer = await this.answer(line, question);
    return form.parse(answer !== undefined && 'json' in answer ? answer.json : undefined);
  }

  /** Returns the response of any route: a stream, JSON or nothing. Rejects as the route does. */
  async answer(line: string, { id = '', grant = '', query = {}, body = {}, bytes }: Question = {}): Promise<Answer> {
    if (!this.may(line)) throw notFor(this.#caller, routeOf(line).role);
    const asked = { id, grant, search: searchOf(query), body, bytes: bytes ?? none() };
    const { answer } = await perform(routeOf(line), { ...this.#core, actor: this.#actor, ...asked });
    return answer;
  }
}

/** Returns the problems of a form to show next to it. Rethrows errors that other input could not fix. */
export function problemsOf(error: unknown): readonly string[] {
  if (error instanceof KeyRefused) return error.problems;
  if (error instanceof AdminRefusal && error.status < 500 && error.status !== 403) return [error.message];
  throw error;
}

export function notFor({ role }: Caller, access: Action['role']): AdminRefusal {
  const roles = new Intl.ListFormat('en', { type: 'disjunction' }).format(rolesFor(access));
  return new AdminRefusal(
    403,
    'insufficient_role',
    `This page needs an admin token with the role ${roles}, and yours has the role ${role}. Ask an operator for ` +
      'another ("petgate tokens create"), and sign in with it.',
  );
}

function routeOf(line: string): Action {
  const route = ACTIONS.find(({ method, path }) => `${method} ${path}` === line);
  if (route === undefined) throw new Error(`the admin API has no route "${line}"`);
  return route;
}

async function* none(): AsyncGenerator<Buffer, void> {
  // An empty body.
}
