import type { IncomingMessage } from 'node:http';
import type { FastifyError } from 'fastify';
import { StoreUnavailable } from '../admission/port.js';
import { ChangeUncertain } from '../store/records/conflicts.js';
import { ArchiveUnavailable } from '../usage/archive/errors.js';
import { KeyRefused, type KeyRefusedKind } from '../accounts/refused.js';
import type { Log } from '../../shared/log.js';
import { AdminRefusal } from '../actions/answer.js';
import { nameOf } from './send.js';

/** Maximum size of a body that isn't streamed. */
export const BODY_BYTES = 65_536;

const REFUSALS: Readonly<Record<KeyRefusedKind, readonly [status: number, code: string]>> = {
  invalid: [400, 'invalid_fields'],
  not_found: [404, 'key_not_found'],
  no_customer: [404, 'customer_not_found'],
  no_grant: [404, 'grant_not_found'],
  conflict: [409, 'conflict'],
  correction_exists: [409, 'correction_exists'],
  credit_exists: [409, 'credit_exists'],
};

/** Returns the refusal for an error. Logs unexpected errors, unless the request itself broke off. */
export function refusalOf(error: unknown, { errored }: Pick<IncomingMessage, 'errored'>, log: Log): AdminRefusal {
  if (error instanceof AdminRefusal) return error;
  if (error instanceof KeyRefused) {
    const [status, code] = REFUSALS[error.kind];
    return new AdminRefusal(status, code, error.message);
  }
  if (error instanceof ChangeUncertain) return new AdminRefusal(503, 'change_uncertain', error.message);
  if (error instanceof ArchiveUnavailable) return new AdminRefusal(503, 'archive_unavailable', error.message);
  if (error instanceof StoreUnavailable) {
    return new AdminRefusal(
      503,
      'store_unavailable',
      `The store can't do this now (${error.message.replace(/\.$/, '')}). After a change, check ` +
        'whether it was made before you try again.',
      { 'Retry-After': '1' },
    );
  }
  const { code, statusCode = 500, message } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new AdminRefusal(413, 'body_too_large', `The body is larger than ${BODY_BYTES} bytes.`);
  if (statusCode < 500) return new AdminRefusal(statusCode, 'bad_request', message ?? '');
  if (errored === null) log.error({ err: nameOf(error) }, 'an admin request failed');
  return new AdminRefusal(500, 'internal_error', 'The gateway failed on this request; its log has the details.');
}
