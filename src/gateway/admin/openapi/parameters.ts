import { OUTBOX_STATES } from '../../store/outbox/event.js';
import { DIMENSIONS } from '../../usage/range.js';

const DAY = { type: 'string', format: 'date' };

/** The query parameters of the admin API. */
export const PARAMETERS = {
  limit: { description: 'How many at most', schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 } },
  cursor: { description: 'From the page before', schema: { type: 'string' } },
  plan: { description: 'Only keys on this plan', schema: { type: 'string' } },
  status: { description: 'Only keys of this status', schema: { enum: ['enabled', 'disabled', 'revoked'] } },
  name: { description: 'Only keys whose name begins with this', schema: { type: 'string' } },
  customer: { description: 'Only of this customer: its id, of a report its reference too', schema: { type: 'string' } },
  reference: { description: 'Only customers of this very reference', schema: { type: 'string', minLength: 1 } },
  check: { description: 'Writes nothing, and says what would come of it', schema: { enum: ['true', 'false'] } },
  hashes: { description: 'With hashes the lines can be imported', schema: { enum: ['true', 'false'] } },
  from: { description: 'First UTC day; the first of the month when left out', schema: DAY },
  to: { description: 'Last UTC day; today when left out', schema: DAY },
  by: { description: `One or more of ${DIMENSIONS.join(', ')}`, schema: { type: 'string', default: 'plan' } },
  format: { description: 'How the report is written', schema: { enum: ['json', 'csv', 'html'], default: 'json' } },
  state: { description: 'Which events', schema: { enum: OUTBOX_STATES, default: 'waiting' } },
  key: { description: 'Only the usage of this key', schema: { type: 'string' } },
} as const;

export type ParameterName = keyof typeof PARAMETERS;
