import type { z } from 'zod';
import type { AdmissionEngine, Running } from '../store/port.js';
import type { ArchiveTask } from '../usage/tasks/task.js';
import type { Body, Checked, Shape } from '../accounts/fields.js';
import type { KeyRegistry } from '../accounts/keys/registry.js';
import type { Readiness } from '../observe/health.js';
import type { Recall } from '../observe/recent/recall.js';
import type { Log } from '../../shared/log.js';
import type { ReportRange } from '../usage/grouping/range.js';
import type { LedgerScript } from '../usage/rehearsal/ledger/rehearse.js';
import type { Format } from '../usage/report-text.js';
import type { Audit } from './access/audit.js';
import type { Access } from './access/roles.js';
import type { AdminTokens } from './access/tokens.js';
import { AdminRefusal, type Answer } from './answer.js';
import type { Command } from './command.js';
import type { Form } from './form.js';

/** What a developer needs with a new key. */
export interface Handover {
  /** A request with the key, for a shell. */
  readonly curl: (key: string) => string;
  /** Addresses of the reference and of the key holder's page; null if they are not served. */
  readonly docs: string | null;
  readonly account: string | null;
}

export interface AdminParts {
  readonly registry: KeyRegistry;
  readonly engine: AdmissionEngine;
  /** The root token from the environment. It may do everything, and works without the store. */
  readonly token: string;
  /** Host names of the listener, in addition to IP addresses and internal names. */
  readonly hosts?: readonly string[];
  /** Tests only: ms of a clock that never steps back, for wrong tokens. */
  readonly elapsedMs?: () => number;
  /** Prometheus text format. */
  readonly metrics: () => Promise<string>;
  readonly ready: () => Readiness;
  /** Version and hashes of the settings, plans and contract in force. */
  readonly running: () => Running;
  /** Recent exchanges of all processes of this gateway. */
  readonly recall: Recall;
  /** By the contract in force. */
  readonly handover?: () => Handover;
  readonly log: Log;
  readonly audit: Audit;
  /** Creates a report from store and archive in another process. If absent: here, from the store. */
  readonly report?: (format: Format, range: ReportRange) => AsyncGenerator<Buffer, void>;
  /** Rehearses plans on a month of the ledger in another process; if absent, here. Yields a LedgerOutcome as JSON. */
  readonly rehearsal?: (script: LedgerScript) => AsyncGenerator<Buffer, void>;
  /** Runs an archive task in another process. Absent if there is no archive. */
  readonly archive?: (task: Omit<ArchiveTask, 'settings'>) => AsyncGenerator<Buffer, void>;
}

/** One request, for a handler. */
export interface Call<Query extends Shape = Shape> {
  readonly parts: AdminParts;
  readonly tokens: AdminTokens;
  /** The `{id}` of the path; empty if it has none. */
  readonly id: string;
  /** The `{grant}` of the path. */
  readonly grant: string;
  readonly query: Checked<Query>;
  /** The JSON body; `{}` if the action takes none or reads the bytes itself. */
  readonly body: Body;
  /** The raw body, for an action that streams. */
  readonly bytes: AsyncIterable<Buffer>;
  /** The actor, for the history. */
  readonly actor: string;
}

/** The handler of an action with the schemas of its input and output, for parsing and OpenAPI. */
interface Handler<Query extends Shape = Shape> {
  /** Its query parameters. */
  readonly query?: Query;
  /** The schema of its JSON body, if it takes one. */
  readonly takes?: z.ZodType;
  /** Whether the handler reads the body itself, of any length. */
  readonly streams?: boolean;
  /** The schema of its JSON response, or other media types. Absent: 204. */
  readonly gives?: z.ZodType | readonly string[];
  /** Its command on the command line, or several. */
  readonly commands?: Command | readonly Command[];
  /** Its form in the console, or several. */
  readonly forms?: Form | readonly Form[];
  /** The field of its response with a secret that is shown only once. */
  readonly issues?: string;
  /** The status of success. Default: 200, or 204 without a response body. */
  readonly status?: 201;
  handle(call: Call<Query>): Answer | Promise<Answer> | Promise<void>;
}

export interface Action extends Handler {
  readonly method: string;
  /** With at most one `{id}` and one `{grant}`. */
  readonly path: string;
  /** The role it requires. */
  readonly role: Access;
  /** What it does, in the imperative: "Create a key". */
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

/** Returns the refusal for a request without an action: 405 if the path has other methods, else 404. */
export function unmatched(routes: readonly Action[], method: string, url: string): AdminRefusal {
  const [path = ''] = url.split('?', 1);
  const onPath = routes.filter((one) => patternOf(one.path).test(path));
  const exact = onPath.filter((one) => one.path === path);
  const methods = (exact.length > 0 ? exact : onPath).flatMap((one) =>
    one.method === 'GET' ? ['GET', 'HEAD'] : [one.method],
  );
  const allow = methods.join(', ');
  // If the path has the method, the router could not parse the path.
  if (allow !== '' && !methods.includes(method))
    return new AdminRefusal(405, 'method_not_allowed', `This path knows ${allow}.`, { Allow: allow });
  const message = 'There is nothing at this path. GET /admin/v1/openapi.json lists all that the admin API has.';
  return new AdminRefusal(404, 'not_found', message);
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
}
