import { fault, readFlatObject, type Fault, type Scalar } from './json.js';
import { listed, Refusal, shown } from './refusal.js';
import { PET_STATUSES, type NewPet, type Pet, type PetStatus } from './store/port.js';

const FIELDS: readonly string[] = ['name', 'categoryId', 'status'];
const NAME_CHARACTERS = 200;
/** Counts code points, not UTF-16 code units. */
const NAME = new RegExp(`^.{1,${NAME_CHARACTERS}}$`, 'su');
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INTEGER = /^(?:0|-?[1-9][0-9]{0,18})$/;
const CONTROL = /\p{Control}/u;

/** Parses an int64 in canonical form: digits, no `+`, no leading zero, no `-0`, `1.0` or `1e0`. Undefined otherwise. */
export function parseInt64(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  return value < INT64_MIN || value > INT64_MAX ? undefined : value;
}

/** Parses the id of a pet in a path: an int64 of 1 or more. */
export function parsePetId(text: string): bigint | Refusal {
  const id = parseInt64(text);
  if (id !== undefined && id > 0n) return id;
  return new Refusal(
    'invalid_parameter',
    `petId must be a whole number from 1 to ${INT64_MAX.toString()}, not ${shown(text)}.`,
  );
}

export function parseStatus(text: string): PetStatus | undefined {
  return PET_STATUSES.find((status) => status === text);
}

/**
 * Parses a NewPet from a request body. Returns a refusal that names every wrong field, in the order of the contract.
 */
export function parseNewPet(body: Uint8Array): NewPet | Refusal {
  const fields = readFlatObject(body);
  if (fields instanceof Refusal) return fields;
  const mistakes: string[] = [];
  const read = <T extends string | bigint | undefined>(
    name: string,
    parse: (field?: Scalar) => T | Fault,
  ): T | undefined => {
    const field = fields.get(name);
    const value = field?.kind === 'fault' ? field : parse(field);
    if (typeof value !== 'object') return value;
    mistakes.push(value.message);
    return undefined;
  };
  const name = read('name', parseName);
  const categoryId = read('categoryId', parseCategoryId);
  const status = read('status', parseOptionalStatus);
  const unknown = [...fields.keys()].filter((field) => !FIELDS.includes(field));
  if (unknown.length > 0)
    mistakes.push(
      `The ${unknown.length === 1 ? 'field' : 'fields'} ${listed(unknown)} not known. Send name, categoryId ` +
        'and, if you like, status.',
    );
  if (name === undefined || categoryId === undefined || mistakes.length > 0)
    return new Refusal('invalid_body', mistakes.join(' '));
  return status === undefined ? { name, categoryId } : { name, categoryId, status };
}

function parseName(field?: Scalar): string | Fault {
  if (field === undefined) return fault('name is missing. Send it as a string.');
  if (field.kind !== 'string') return fault('name must be a string.');
  if (!NAME.test(field.text)) return fault(`name must have 1 to ${NAME_CHARACTERS} characters.`);
  if (CONTROL.test(field.text)) return fault('name must not contain control characters.');
  return field.text;
}

function parseCategoryId(field?: Scalar): bigint | Fault {
  if (field === undefined) return fault('categoryId is missing. Send it as a whole number.');
  const value = field.kind === 'number' ? parseInt64(field.text) : undefined;
  return (
    value ??
    fault(
      `categoryId must be a whole number from ${INT64_MIN.toString()} to ${INT64_MAX.toString()}, written in ` +
        'digits only.',
    )
  );
}

function parseOptionalStatus(field?: Scalar): PetStatus | undefined | Fault {
  if (field === undefined) return undefined;
  const status = field.kind === 'string' ? parseStatus(field.text) : undefined;
  return status ?? fault(`status must be one of ${PET_STATUSES.join(', ')}, or be left out.`);
}

/** Returns a Pet of the contract as JSON, with all digits of its integers. */
export function petJson(pet: Pet): string {
  const status = pet.status === undefined ? '' : `,"status":"${pet.status}"`;
  return (
    `{"id":${pet.id.toString()},"name":${JSON.stringify(pet.name)}` +
    `,"categoryId":${pet.categoryId.toString()}${status}}`
  );
}
