import { isCustomerId, isKeyId } from '../accounts/token.js';
import type { Answer } from './answer.js';
import { readQuery } from './input/query.js';
import { statusOf, type Call, type Route } from './route.js';

interface Request extends Omit<Call, 'query'> {
  /** The query as it came. */
  readonly search: URLSearchParams;
}

/** Does what a route is for, whoever asks. Who may ask was seen to before. */
export async function perform(
  route: Route,
  { search, ...request }: Request,
): Promise<{ readonly answer: Answer; readonly status: number }> {
  const query = readQuery(search, route.query ?? {});
  const answer = (await route.handle({ ...request, query })) as Answer;
  const status = (answer !== undefined && 'json' in answer ? answer.status : undefined) ?? statusOf(route);
  if (route.method !== 'GET') noteChange(route, request, status);
  return { answer, status };
}

/** What changed is in the keys' history; the log says that something was. The path may hold a key by mistake. */
function noteChange(route: Route, { parts, id, actor }: Pick<Call, 'parts' | 'id' | 'actor'>, status: number): void {
  const { method, path } = route;
  const subject = isKeyId(id) || isCustomerId(id) ? { [nameOfId(route)]: id } : {};
  parts.log.info({ method, route: path, status, actor, ...subject }, 'admin change');
}

function nameOfId({ path }: Route): 'key' | 'customer' | 'tokenId' {
  if (path.startsWith('/admin/v1/customers/')) return 'customer';
  return path.startsWith('/admin/v1/tokens/') ? 'tokenId' : 'key';
}
