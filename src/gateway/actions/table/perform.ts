import { isCustomerId, isKeyId } from '../../accounts/token.js';
import type { Answer } from '../answer.js';
import { readQuery } from '../input/query.js';
import { statusOf, type Call, type Action } from '../action.js';

interface Request extends Omit<Call, 'query'> {
  /** The unparsed query. */
  readonly search: URLSearchParams;
}

/** Performs an action. The caller has checked the role. */
export async function perform(action: Action, { search, ...request }: Request) {
  const query = readQuery(search, action.query ?? {});
  const answer = (await action.handle({ ...request, query })) as Answer;
  const status = (answer !== undefined && 'json' in answer ? answer.status : undefined) ?? statusOf(action);
  if (action.method !== 'GET') noteChange(action, { ...request, id: createdId(action, answer) ?? request.id }, status);
  return { answer, status };
}

/** Returns the ID of a new key, customer or token. */
function createdId({ path, status }: Action, answer: Answer): string | undefined {
  if (status !== 201 || path.includes('{') || answer === undefined || !('json' in answer)) return undefined;
  const { id } = answer.json as { readonly id?: unknown };
  return typeof id === 'string' && !path.includes('/usage/') ? id : undefined;
}

/** Log and audit say that something changed, the record's history says what. A path may contain a key by mistake. */
function noteChange(action: Action, { parts, id, actor }: Pick<Call, 'parts' | 'id' | 'actor'>, status: number): void {
  const { method, path, summary } = action;
  const kind = isKeyId(id) || isCustomerId(id) ? kindOf(action) : null;
  const subject = kind === null ? {} : { [kind === 'token' ? 'tokenId' : kind]: id };
  parts.log.info({ method, route: path, status, actor, ...subject }, 'admin change');
  parts.audit.changed({ actor, action: summary, kind, id: kind === null ? null : id, status });
}

function kindOf({ path }: Action): 'key' | 'customer' | 'token' {
  if (path.startsWith('/admin/v1/customers')) return 'customer';
  return path.startsWith('/admin/v1/tokens') ? 'token' : 'key';
}
