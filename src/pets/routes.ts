import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { nextLink, parseListQuery, refuseQuery } from './paging.js';
import { parseNewPet, parsePetId, petJson } from './pet.js';
import { Refusal, shown } from './refusal.js';
import type { PetStore } from './store/port.js';

/** All paths, with the methods they accept. */
const PATHS: readonly (readonly [RegExp, string])[] = [
  [/^\/v1\/pets$/, 'GET, HEAD, POST'],
  [/^\/v1\/pets\/[^/]+$/, 'GET, HEAD'],
  [/^\/(?:livez|readyz|metrics)$/, 'GET, HEAD'],
];

/** Adds the three operations of the contract, section 4. Fastify adds HEAD to each GET. */
export function addPetRoutes(app: FastifyInstance, store: PetStore): void {
  app.get('/v1/pets', async (request, reply) => {
    const query = parseListQuery(searchOf(request));
    if (query instanceof Refusal) return refuse(reply, query);
    // One more than asked for shows whether there is a next page.
    const found = await store.page({ afterId: query.afterId, count: query.limit + 1, status: query.status });
    const pets = found.slice(0, query.limit);
    const last = pets.at(-1);
    if (found.length > query.limit && last !== undefined) reply.header('link', nextLink(query, last));
    return reply.type('application/json').send(`[${pets.map(petJson).join(',')}]`);
  });

  app.post('/v1/pets', { onRequest: requireJson }, async (request, reply) => {
    const pet =
      refuseQuery(searchOf(request)) ??
      parseNewPet(request.body instanceof Uint8Array ? request.body : new Uint8Array());
    if (pet instanceof Refusal) return refuse(reply, pet);
    const added = await store.add(pet);
    return reply
      .code(201)
      .header('location', `/v1/pets/${added.id.toString()}`)
      .type('application/json')
      .send(petJson(added));
  });

  app.get<{ Params: { petId: string } }>('/v1/pets/:petId', async (request, reply) => {
    // `/v1/pets/` names no pet.
    if (request.params.petId === '') return refuse(reply, unmatched(request));
    const query = refuseQuery(searchOf(request));
    const id = parsePetId(request.params.petId);
    if (id instanceof Refusal)
      return refuse(
        reply,
        query === undefined ? id : new Refusal('invalid_parameter', `${id.message} ${query.message}`),
      );
    if (query !== undefined) return refuse(reply, query);
    const pet = await store.read(id);
    if (pet === undefined)
      return refuse(reply, new Refusal('pet_not_found', `There is no pet with id ${id.toString()}.`));
    return reply.type('application/json').send(petJson(pet));
  });
}

/** Returns the 404, or the 405 with Allow, for a request that no route matches. */
export function unmatched(request: FastifyRequest): Refusal {
  const path = request.url.split('?', 1)[0] ?? '';
  const allow = PATHS.find(([pattern]) => pattern.test(path))?.[1];
  if (allow === undefined)
    return new Refusal('not_found', `There is nothing at ${shown(path)}. The catalogue is at /v1/pets.`);
  return new Refusal('method_not_allowed', `This path accepts only ${allow}.`, { allow });
}

/** Sends a refusal; the only function that does so once there is a reply. */
export function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return reply.code(refusal.status).headers(refusal.headers).type('application/json').send(refusal.body);
}

/**
 * Refuses a body that is not plain JSON before reading it. A request without a body passes: its later refusal says what
 * to send.
 */
function requireJson(request: FastifyRequest, reply: FastifyReply, next: () => void): void {
  const {
    'content-type': type,
    'content-encoding': coding,
    'content-length': length,
    'transfer-encoding': transfer,
  } = request.headers;
  const bodiless = transfer === undefined && (length ?? '0') === '0';
  const refuseType = (message: string, accepted: Readonly<Record<string, string>>): void =>
    void refuse(reply, new Refusal('unsupported_media_type', message, accepted));
  if (!(type === undefined ? bodiless : isJson(type)))
    refuseType('Send the body as Content-Type: application/json, in UTF-8.', { accept: 'application/json' });
  else if (coding !== undefined && coding.toLowerCase() !== 'identity')
    refuseType('Send the body without Content-Encoding.', { 'accept-encoding': 'identity' });
  else next();
}

/** Returns whether the type is `application/json` with no charset but UTF-8 (RFC 9110, section 8.3). */
function isJson(contentType: string): boolean {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charsets = parameters.filter((parameter) => parameter.startsWith('charset'));
  return type === 'application/json' && charsets.every((charset) => /^charset="?utf-8"?$/.test(charset));
}

function searchOf(request: FastifyRequest): string {
  const [, ...rest] = request.url.split('?');
  return rest.join('?');
}
