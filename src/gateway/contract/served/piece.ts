import { isMapping, type Mapping } from '../document/references.js';
import type { Group } from './group.js';
import type { Part, Written } from './parts.js';

/** Members that every piece contains. */
const ALWAYS: ReadonlySet<string> = new Set([
  'openapi',
  '$self',
  'jsonSchemaDialect',
  'info',
  'servers',
  'security',
  'externalDocs',
  'tags',
]);

/**
 * Cuts pieces out of the document without parsing it again: a group's operations with everything they refer to; null
 * if the group has none. A piece is shared while it is being sent, so that slow clients hold only one per group.
 */
export function createPieces(written: Written): (group: Group) => Buffer | null {
  const shared = new Map<Group, WeakRef<Buffer>>();
  return (group) => {
    const piece = shared.get(group)?.deref() ?? pieceOf(written, group);
    if (piece !== null) shared.set(group, new WeakRef(piece));
    return piece;
  };
}

function pieceOf({ document, parts }: Written, group: Group): Buffer | null {
  const isMember = ({ tags }: Part): boolean =>
    tags !== null && (group === null ? tags.length === 0 : tags.includes(group));
  const paths = new Set(parts.filter(isMember).map(({ at }) => at[1]));
  if (paths.size === 0) return null;
  const chosen = new Set<Part>();
  const open = parts.filter((part) => {
    const [top, name] = part.at;
    if (top === 'paths') return part.tags === null ? paths.has(name) : isMember(part);
    return ALWAYS.has(top!) || (top === 'components' && name === 'securitySchemes');
  });
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (chosen.has(part)) continue;
    chosen.add(part);
    for (const index of part.refersTo) open.push(parts[index]!);
  }
  const inOrder = parts.filter((part) => chosen.has(part));
  return assemble(inOrder, (part) => {
    const bytes = document.subarray(part.start, part.end);
    return part.at[0] === 'tags' ? onlyTag(bytes, group) : bytes;
  });
}

/** Joins the parts into one JSON document, each within the members that hold it. */
function assemble(parts: readonly Part[], bytesOf: (part: Part) => Buffer): Buffer {
  const chunks: Buffer[] = [];
  let before: readonly string[] = [];
  let separator = '{';
  for (const part of parts) {
    const holders = part.at.slice(0, -1);
    const differs = holders.findIndex((name, depth) => name !== before[depth]);
    const common = differs === -1 ? Math.min(holders.length, before.length) : differs;
    const opened = holders.slice(common).map((name) => `${JSON.stringify(name)}:{`);
    chunks.push(Buffer.from('}'.repeat(before.length - common) + separator + opened.join('')), bytesOf(part));
    before = holders;
    separator = ',';
  }
  chunks.push(Buffer.from('}'.repeat(before.length + 1)));
  return Buffer.concat(chunks);
}

/** Reduces `"tags":[…]` to this tag, because Swagger UI shows every tag listed there. */
function onlyTag(member: Buffer, group: Group): Buffer {
  const { tags } = JSON.parse(`{${member.toString()}}`) as { readonly tags: unknown };
  const isTag = (tag: unknown): tag is Mapping => isMapping(tag) && tag['name'] === group;
  return Buffer.from(`"tags":${JSON.stringify(Array.isArray(tags) ? tags.filter(isTag) : [])}`);
}
