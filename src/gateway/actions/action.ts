import type { z } from 'zod';
import type { AdmissionEngine, Running } from '../store/port.js';
import type { ArchiveTask } from '../usage/tasks/task.js';
import type { Body, Checked, Shape } from '../accounts/fields.js';
import type { KeyRegistry } from '../accounts/registry.js';
import type { Readiness } from '../observe/health.js';
import type { Recall } from '../observe/recent/recall.js';
import type { Log } from '../../shared/log.js';
import type { ReportRange } from '../usage/grouping/range.js';
import type { LedgerScript } from '../usage/rehearsal/ledger/script.js';
import type { Format } from '../usage/report.js';
import type { Audit } from './access/audit.js';
import type { Access } from './access/roles.js';
import type { AdminTokens } from './access/tokens.js';
import { AdminRefusal, type Answer } from './answer.js';
import type { Command } from './command.js';
import type { Form } from './form.js';

export interface AdminParts {
  readonly registry: KeyRegistry;
  readonly engine: AdmissionEngine;
  /** The operators' own token, of the environment: it may do everything, and needs no store. */
  readonly token: string;
  /** Names the listener is known by, beside addresses and names of inside. */
  readonly hosts?: readonly string[];
  /** Tests only: ms of a clock that never steps back, for wrong tokens. */
  readonly elapsedMs?: () => number;
  /** Prometheus text format. */
  readonly metrics: () => Promise<string>;
  readonly ready: () => Readiness;
  /** What this gateway runs by. */
  readonly running: () => Running;
  /** What all processes of this gateway remember of exchanges. */
  readonly recall: Recall;
  readonly log: Log;
  readonly audit: Audit;
  /** Makes a report in another process, over store and archive; left out, it is made here, over the store. */
  readonly report?: (format: Format, range: ReportRange) => AsyncGenerator<Buffer, void>;
  /** Tries plans on a month of the ledger in another process; left out, here. Gives a LedgerOutcome as JSON. */
  readonly rehearsal?: (script: LedgerScript) => AsyncGenerator<Buffer, void>;
  /** Does something with the archive, in a process of its own; left out where there is none. */
  readonly archive?: (task: Omit<ArchiveTask, 'settings'>) => AsyncGenerator<Buffer, void>;
}

/** One request as its handler sees it. */
export interface Call<Query extends Shape = Shape> {
  readonly parts: AdminParts;
  readonly tokens: AdminTokens;
  /** What stands at `{id}` in the path, empty where there is none. */
  readonly id: string;
  /** The same of `{grant}`. */
  readonly grant: string;
  readonly query: Checked<Query>;
  /** One JSON object; `{}` where the action takes none, or reads the bytes itself. */
  readonly body: Body;
  /** The body's bytes, for an action that streams; already read for any other. */
  readonly bytes: AsyncIterable<Buffer>;
  /** Who asks, for the history. */
  readonly actor: string;
}

/** What does an action, with the forms of what goes in and out: requests are read by them, and OpenAPI shows them. */
interface Handler<Query extends Shape = Shape> {
  /** The query parameters it knows. */
  readonly query?: Query;
  /** The form of its JSON body; one without it takes none. */
  readonly takes?: z.ZodType;
  /** True: the body is as long as it wants to be, and is read by the handler. */
  readonly streams?: boolean;
  /** The form of the JSON it answers with, or the other types of its body; left out: 204. */
  readonly gives?: z.ZodType | readonly string[];
  /** How the command line offers it; left out: it does not. */
  readonly commands?: readonly Command[];
  /** The same of the console. */
  readonly forms?: readonly Form[];
  /** The secret in its answer, which is shown only once. */
  readonly issues?: string;
  /** The status of its success; left out: 200, or 204 where it gives nothing. */
  readonly status?: 201;
  handle(call: Call<Query>): Answer | Promise<Answer> | Promise<void>;
}

export interface Action extends Handler {
  readonly method: string;
  /** With at most one `{id}` and one `{grant}`. */
  readonly path: string;
  /** The least role that may ask. */
  readonly role: Access;
  /** What it does, in one line of the description. */
  readonly summary: string;
}

/** @param line method and path */
export function action<Query extends Shape>(line: string, role: Access, summary: string, one: Handler<Query>): Action {
  const [method = '', path = ''] = line.split(' ');
  return { ...one, method, path, role, summary };
}

export function statusOf({ status, gives }: Pick<Handler, 'status' | 'gives'>): number {
  return status ?? (gives === undefined ? 204 : 200);
}

/** Why there is no route: 405 where the path knows other methods, else 404. */
export function unmatched(routes: readonly Action[], method: string, url: string): AdminRefusal {
  const [path = ''] = url.split('?', 1);
  const onPath = routes.filter((one) => patternOf(one.path).test(path));
  const exact = onPath.filter((one) => one.path === path);
  const methods = (exact.length > 0 ? exact : onPath).flatMap((one) =>
    one.method === 'GET' ? ['GET', 'HEAD'] : [one.method],
  );
  const allow = methods.join(', ');
  // With a method that the path knows it is the path that could not be read.
  if (allow !== '' && !methods.includes(method))
    return new AdminRefusal(405, 'method_not_allowed', `This path knows ${allow}.`, { Allow: allow });
  const message = 'There is nothing at this path. GET /admin/v1/openapi.json lists all that the admin API has.';
  return new AdminRefusal(404, 'not_found', message);
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
}
