import { redisUrlProblem } from '../../store/redis/link/url.js';
import { choice, days, duration, mapping, size, text, wholeOrAuto } from './values.js';

// Messages never show any part of a Redis address: it may hold a password.
const REDIS = /^rediss?(?:\+cluster|\+sentinel)?:\/\/[^\s/]+(?:\/\S*)?$/;
const redis = text(
  'must be an address such as redis://host:6379, rediss://user:password@host:6379/0, ' +
    'redis+cluster://h1:6379,h2:6379 or redis+sentinel://h1:26379,h2:26379/name',
  REDIS,
).superRefine((url, context) => {
  const problem = REDIS.test(url) ? redisUrlProblem(url) : null;
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});
const archive = text(
  'must be off, or an address such as postgres://user:password@host/database',
  /^(?:off|postgres(?:ql)?:\/\/\S+)$/,
).transform((url) => (url === 'off' ? null : url));

/** `store` of gateway.yaml. */
export const store = mapping({
  engine: choice('redis', 'embedded')
    .optional()
    .describe(
      'What keeps keys and counts. Left out: Redis where its address is set, else embedded; production must say ' +
        'embedded.',
    ),
  redis: redis
    .optional()
    .describe('Shared by all gateways. Left out: the embedded store in the data folder, for one machine.'),
  deadline: duration('1ms', '10s')
    .prefault('450ms')
    .describe('How long a call to the store may take, and the store be silent before it counts as unavailable.'),
  usage: days('1d', '36500d', '400d')
    .prefault('400d')
    .describe('How long the store keeps a day of the usage ledger, unless it moves to the archive before.'),
  archive: archive
    .optional()
    .describe(
      'With Redis: the PostgreSQL where days of the ledger go that are over; off: nowhere, and no warning. The ' +
        'embedded store keeps them itself.',
    ),
  archive_after: days('32d', '36500d', '40d').prefault('40d').describe('How long they stay in Redis before.'),
  final_after: duration('1h', '400d')
    .prefault('7d')
    .describe(
      'With Redis: how long a gateway that fell silent may still bring counts before its days are final without it.',
    ),
  map_size: size('16MiB', '1TiB')
    .prefault('16GiB')
    .describe('Upper bound of the embedded store; takes disk only as it fills.'),
  on_failure: choice('local', 'refuse')
    .prefault('local')
    .describe(
      'While Redis is unavailable: decide here, about keys seen within 24 hours and from a share of each limit, ' +
        'or refuse with 503.',
    ),
  gateways: wholeOrAuto(1, 10_000)
    .prefault('auto')
    .describe('How many gateways share each limit while Redis is unavailable; auto is as many as were seen last.'),
  eviction: choice('refuse', 'accept')
    .prefault('refuse')
    .describe(
      'For a Redis whose maxmemory-policy drops data when its memory is full: whether a gateway that starts on ' +
        'it is ready.',
    ),
  replicas: wholeOrAuto(0, 100)
    .prefault('auto')
    .describe(
      'How many Redis replicas must have a change of a key or a ban before it is acknowledged; auto: all that ' +
        'are connected, or one while those seen within the hour are gone.',
    ),
  replica_wait: duration('1ms', '10s')
    .prefault('1s')
    .describe('How long they may take; then the response is 503 change_uncertain.'),
})
  .refine(({ archive: url, redis: redisUrl }) => typeof url !== 'string' || redisUrl !== undefined, {
    path: ['archive'],
    error:
      'only Redis has an archive: the embedded store keeps its ledger on disk for as long as store.usage says; ' +
      'leave LEDGER_URL and store.archive out, or set REDIS_URL',
  })
  .refine(({ archive: url, archive_after: after, usage }) => typeof url !== 'string' || after < usage, {
    path: ['archive_after'],
    error: 'must be shorter than usage: a day is archived before the store forgets it',
  });
