import * as archive from './handlers/archive.js';
import * as bans from './handlers/bans.js';
import * as customers from './handlers/customers.js';
import * as events from './handlers/events.js';
import { grantsOfCustomers, grantsOfKeys } from './handlers/grants.js';
import * as keys from './handlers/keys.js';
import * as personal from './handlers/personal.js';
import * as plans from './handlers/plans.js';
import * as service from './handlers/service.js';
import * as tokens from './handlers/tokens.js';
import * as usage from './handlers/usage.js';
import * as webhooks from './handlers/webhooks.js';
import { describe } from './openapi/describe.js';
import { handler, route } from './route.js';
import type { Route } from './route.js';
import * as transfer from './transfer.js';

const KEYS = '/admin/v1/keys';
const KEY = `${KEYS}/{id}`;
const CUSTOMERS = '/admin/v1/customers';
const CUSTOMER = `${CUSTOMERS}/{id}`;
const USAGE = '/admin/v1/usage';
const TOKENS = '/admin/v1/tokens';

const openapi = handler({ gives: ['application/json'], handle: () => ({ json: describe(ROUTES) }) });

/** Everything that the admin port answers, who may ask it, and what it does. */
export const ROUTES: readonly Route[] = [
  route('GET /metrics', 'open', "Metrics in Prometheus' text format", service.metrics),
  route('GET /livez', 'open', 'Whether the process runs', service.live),
  route('GET /readyz', 'open', 'Whether it can serve, part by part; 503 when it cannot', service.ready),

  route(
    `POST ${KEYS}/import`,
    'keys',
    'Imports keys by their hashes; those that are here are left alone',
    transfer.importAll,
  ),
  route(`GET ${KEYS}/export`, 'keys', 'Every key as JSON lines', transfer.exportAll),
  route(`GET ${KEYS}`, 'read', 'Lists keys by id, page by page', keys.list),
  route(`POST ${KEYS}`, 'keys', 'Creates a key; the answer shows the token, once', keys.create),
  route(`GET ${KEY}`, 'read', 'One key', keys.show),
  route(`PATCH ${KEY}`, 'keys', 'Changes a key', keys.change),
  route(`DELETE ${KEY}`, 'keys', 'Revokes a key for ever', keys.revoke),
  route(`POST ${KEY}/rotate`, 'keys', 'Gives a key a new secret, shown once', keys.rotate),
  route(`GET ${KEY}/history`, 'read', 'Who changed what, from what, to what, when', keys.history),
  route(`GET ${KEY}/grants`, 'read', 'Grants of a key that are in force', grantsOfKeys.list),
  route(`POST ${KEY}/grants`, 'keys', 'Grants a key more of one window for a while', grantsOfKeys.create),
  route(`DELETE ${KEY}/grants/{grant}`, 'keys', 'Ends a grant of a key now', grantsOfKeys.end),
  route(`GET ${KEY}/export`, 'operator', 'All that is stored about a key, without secrets', personal.exportKey),
  route(
    `POST ${KEY}/erase`,
    'operator',
    'Forgets name and notes of a revoked key; the counts stay',
    personal.eraseOfKey,
  ),

  route(`GET ${CUSTOMERS}`, 'any', 'Lists customers by id, page by page', customers.list),
  route(`POST ${CUSTOMERS}`, 'keys', 'Creates a customer', customers.create),
  route(`GET ${CUSTOMER}`, 'any', 'One customer', customers.show),
  route(`PATCH ${CUSTOMER}`, 'keys', 'Changes a customer, at once for each of its keys', customers.change),
  route(`DELETE ${CUSTOMER}`, 'keys', 'Closes a customer for ever, with all its keys', customers.close),
  route(
    `GET ${CUSTOMER}/history`,
    'any',
    'Who changed what of a customer, from what, to what, when',
    customers.history,
  ),
  route(`GET ${CUSTOMER}/grants`, 'any', 'Grants of a customer that are in force', grantsOfCustomers.list),
  route(`POST ${CUSTOMER}/grants`, 'keys', 'Grants a customer more of one window', grantsOfCustomers.create),
  route(`DELETE ${CUSTOMER}/grants/{grant}`, 'keys', 'Ends a grant of a customer now', grantsOfCustomers.end),
  route(`GET ${CUSTOMER}/export`, 'operator', 'All that is stored about it and its keys', personal.exportCustomer),
  route(`POST ${CUSTOMER}/erase`, 'operator', 'Forgets names and notes of a closed customer', personal.eraseOfCustomer),
  route(`PUT ${CUSTOMER}/bans`, 'keys', 'Bans every key of a customer that is not revoked', bans.startAll),
  route(`DELETE ${CUSTOMER}/bans`, 'keys', 'Lifts the bans of all keys of a customer', bans.liftAll),
  route(`GET ${CUSTOMER}/webhook`, 'read', 'The webhook of a customer; of its address the host alone', webhooks.show),
  route(`PUT ${CUSTOMER}/webhook`, 'keys', 'Sets the address of its webhook; the first gets a secret', webhooks.set),
  route(`POST ${CUSTOMER}/webhook/rotate`, 'keys', 'A new secret; the old one signs too for a while', webhooks.rotate),
  route(`DELETE ${CUSTOMER}/webhook`, 'keys', 'Removes its webhook, and what waits for it', webhooks.remove),

  route('GET /admin/v1/bans', 'read', 'Bans of keys in force', bans.list),
  route('GET /admin/v1/bans/{id}', 'read', 'The ban of one key', bans.show),
  route('PUT /admin/v1/bans/{id}', 'keys', 'Bans a key', bans.start),
  route('DELETE /admin/v1/bans/{id}', 'keys', 'Lifts a ban, and forgets what led to it', bans.lift),
  route('GET /admin/v1/plans', 'read', 'The plans, and how many keys and customers have each', plans.list),
  route('POST /admin/v1/plans/check', 'read', 'What a file of plans would take away; changes nothing', plans.check),
  route('GET /admin/v1/events', 'read', 'Events that wait, the oldest first, are to come, or are dead', events.list),
  route('GET /admin/v1/events/{id}', 'read', 'One event that is not delivered', events.show),
  route(
    'POST /admin/v1/events/{id}/redeliver',
    'keys',
    'Has an event delivered at once, under its id',
    events.redeliver,
  ),

  route(`GET ${USAGE}`, 'billing', 'A usage report, streamed', usage.report),
  route(`GET ${USAGE}/gateways`, 'billing', 'The gateways that keep days from being final', usage.gateways),
  route(`DELETE ${USAGE}/gateways/{id}`, 'operator', 'Waits no longer for a gateway', usage.giveUp),
  route('GET /admin/usage', 'billing', 'The usage page for browsers', usage.page),
  route(
    `GET ${USAGE}/archive`,
    'billing',
    'Which days of the ledger are in the archive, and which wait',
    archive.status,
  ),
  route(`POST ${USAGE}/archive/move`, 'operator', 'Moves the days that are due now, as once a day', archive.move),
  route(`GET ${USAGE}/archive/verify`, 'billing', 'Reads archived days to their end, a line for each', archive.verify),
  route(`POST ${USAGE}/archive/restore`, 'operator', 'Brings archived days back, a line for each', archive.restore),

  route('POST /admin/v1/store/accept', 'operator', 'Takes Redis as it is, whatever it has lost', service.acceptStore),
  route(`GET ${TOKENS}`, 'operator', 'Lists admin tokens', tokens.list),
  route(`POST ${TOKENS}`, 'operator', 'Creates an admin token; the answer shows it, once', tokens.create),
  route(`GET ${TOKENS}/{id}`, 'operator', 'One admin token', tokens.show),
  route(`DELETE ${TOKENS}/{id}`, 'operator', 'Revokes an admin token at once', tokens.revoke),
  route('GET /admin/v1/openapi.json', 'any', 'This description of the admin API', openapi),
];
